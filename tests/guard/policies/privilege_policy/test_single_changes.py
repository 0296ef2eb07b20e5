"""Each predicted pod with one thing more than it was granted is refused."""

from __future__ import annotations

import pytest

from support.circles import DEEP


@pytest.mark.rows(2, "clusters whose grants differ most; every change of every pod of each")
def test_every_single_change_is_refused(cluster, helpers):
    passed = []
    for start, (name, pod) in enumerate(cluster.pods.items()):
        assert helpers.pod_mutations.number_of_mutations(pod) > 100
        passed += [
            f"{name}: {text}"
            for text, other in helpers.pod_mutations.mutations(pod, helpers.EACH, start)
            if cluster.judge.verdict(other) != "deny"
        ]
    assert passed == []


@pytest.mark.deep("a whole run, 1.4 s; its parts have tests of their own")
def test_without_the_grant_of_one_privilege_its_pod_is_refused(prod, helpers):
    """Whatever it is: the data without that claim refuses the pod, and says which."""
    name = next(name for name in prod.pods if "gpu-driver" in name)
    wanted = {
        str(want.privilege)
        for item in prod.objects
        if f"{item['kind']}/{item['metadata']['name']}" == name
        for claims in helpers.claims_of(item["spec"]["template"], "gpu-operator")
        for want in claims.wants
    }
    assert len(wanted) > 5
    for text in sorted(wanted)[:: helpers.EACH_GRANT]:
        table = helpers.claim_table(
            prod.objects, lambda _workload, _container, _image, privilege, t=text: str(privilege) != t
        )
        message = helpers.Judge(table).message(prod.pods[name])
        assert "which no PrivilegeGrant gives it" in message
        assert text in message


@pytest.mark.deep("pairs of changes; single ones stay")
def test_two_changes_at_once_are_judged_by_the_data_alone(prod, helpers):
    """Against the rule in plain words: known containers with texts that the data has, or no privilege at all."""
    passed = refused = 0
    for start, pod in enumerate(prod.pods.values()):
        for _, once in helpers.pod_mutations.mutations(pod, 151 if DEEP else 251, start):
            for text, twice in helpers.pod_mutations.mutations(once, 97 if DEEP else 151, start):
                stored = helpers.as_stored(twice, helpers.KUBERNETES)
                expected = _is_allowed(helpers.claims_of(stored, "gpu-operator"), prod.table)
                assert (prod.judge.verdict(twice) == "allow") == expected, text
                passed, refused = passed + expected, refused + (not expected)
    assert passed < refused / 50
    assert refused > (100 if DEEP else 50)


def _is_allowed(containers, table):
    accounts, repositories = set(table.accounts), set(table.repositories)
    if not any(item.account in accounts or item.repository in repositories for item in containers):
        return not any(item.wants for item in containers)
    return all(
        item.key in table.identities and _texts(item) <= _with_values(item, set(table.identities[item.key]))
        for item in containers
    )


def _texts(container):
    """Of a stored pod: a variable without a value has the empty one."""
    texts = {*container.has, *(want.text for want in container.wants)}
    return {f"{text}=" if _is_bare(text) else text for text in texts}


def _with_values(container, claims):
    """A variable of which only the name is known may have any value."""
    bare = {text for text in claims if _is_bare(text)}
    return claims | {text for text in _texts(container) if text.split("=")[0] in bare}


def _is_bare(text):
    return text.startswith("env:") and "=" not in text and "<" not in text
