"""What would newly pass is told in words; what is narrower, or only written in another way, is free."""

from __future__ import annotations

import copy
import json
from itertools import count

import pytest

from poolsmith.change.review.policy_widening import policy_widening
from poolsmith.core.diagnostics import Severity
from poolsmith.guard.ledger.privilege import covers
from poolsmith.guard.policies.policies import Policies

GRANT = {
    "clusters": ["prod-*"],
    "pools": ["a100-*"],
    "workload": "DaemonSet/nvidia-driver-daemonset",
    "containers": ["nvidia-driver-ctr", "nvidia-fs-ctr"],
    "images": ["nvcr.io/nvidia/driver", "nvcr.io/nvidia/fs"],
    "privileges": [
        "privileged",
        "host-path:/run/nvidia:rw:bidirectional",
        "rbac:core/nodes:get,list@cluster",
        "host-pid",
    ],
    "reason": "Loads the kernel modules.",
    "owner": "gpu-platform",
    "expires": "2027-06-30",
}
KEY = {"apiVersion": "poolsmith/v1"}


def grants(*specs, names=None):
    names = names or [f"grant-{number}" for number in range(len(specs))]
    items = (
        KEY | {"kind": "PrivilegeGrant", "metadata": {"name": name}, "spec": spec}
        for name, spec in zip(names, specs, strict=True)
    )
    return {"policies/privileges/driver.yaml": "---\n".join(json.dumps(item) + "\n" for item in items)}


def of_kind(path, kind, spec):
    return {path: json.dumps(KEY | {"kind": kind, "metadata": {"name": "a"}, "spec": spec})}


def waivers(*items):
    common = {"reason": "Looked at it.", "owner": "gpu-platform"}
    return of_kind("policies/waivers.yaml", "WaiverList", {"waivers": [common | item for item in items]})


def rules(**settings):
    return of_kind("policies/rules.yaml", "RuleSettings", {"rules": settings})


def enforcement(**spec):
    return of_kind("policies/enforcement.yaml", "PrivilegeEnforcement", spec)


def supply(**spec):
    return of_kind("policies/supply.yaml", "SupplyPolicy", spec)


@pytest.fixture
def widened(tmp_path):
    """What is said of two sets of files."""
    numbers = count()

    def run(base, head, *, is_accepted=False):
        folders = []
        for files in (base, head):
            folder = tmp_path / str(next(numbers))
            folder.mkdir()
            for path, text in files.items():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_text(text)
            folders.append(Policies(folder))
        for policies in folders:
            assert [item.message for item in policies.problems if item.severity is Severity.ERROR] == []
        return list(policy_widening(*folders, is_accepted=is_accepted))

    return run


WIDER_GRANTS = {
    "another privilege": ({"privileges": [*GRANT["privileges"], "host-network"]}, "`host-network` would pass"),
    "a path above": ({"privileges": ["host-path:/run:rw:bidirectional"]}, "`host-path:/run:rw:bidirectional`"),
    "another verb": ({"privileges": ["rbac:core/nodes:get,list,delete@cluster"]}, "delete@cluster"),
    "any verb": ({"privileges": ["rbac:core/nodes:*@cluster"]}, "rbac:core/nodes:*@cluster"),
    "another resource": ({"privileges": ["rbac:core/secrets:get@cluster"]}, "secrets"),
    "every capability": ({"privileges": ["capability:ALL"]}, "capability:ALL"),
    "all clusters": ({"clusters": ["*"]}, "clusters: `*`"),
    "another cluster": ({"clusters": ["prod-*", "lab"]}, "clusters: `lab`"),
    "a wider pattern of clusters": ({"clusters": ["pro*"]}, "clusters: `pro*`"),
    "all pools": ({"pools": ["*"]}, "pools: `*`"),
    "another pool": ({"pools": ["a100-*", "t4"]}, "pools: `t4`"),
    "no pool": ({"pools": ["-"]}, "pools: `-`"),
    "another workload": ({"workload": "DaemonSet/other"}, "`DaemonSet/other`"),
    "a pattern of workloads": ({"workload": "DaemonSet/nvidia-*"}, "`DaemonSet/nvidia-*`"),
    "a workload of every kind": ({"workload": "nvidia-driver-daemonset"}, "`nvidia-driver-daemonset`"),
    "another container": ({"containers": [*GRANT["containers"], "shell"]}, "containers: `shell`"),
    "every container": ({"containers": []}, "containers: any"),
    "another image": ({"images": ["example.com/driver"]}, "images: `example.com/driver`"),
    "every image": ({"images": []}, "images: any"),
    "a later day": ({"expires": "2027-07-01"}, "2027-07-01, and not 2027-06-30"),
}


@pytest.mark.parametrize("name", WIDER_GRANTS)
@pytest.mark.parametrize("has_the_same_name", [True, False])
def test_a_wider_grant_is_told_with_what_it_adds(widened, name, has_the_same_name):
    change, words = WIDER_GRANTS[name]
    head = grants(GRANT | change, names=["grant-0" if has_the_same_name else "renamed"])

    found = widened(grants(GRANT), head)

    assert [item.code for item in found] == ["PSM660"]
    assert found[0].severity is Severity.ERROR
    assert words in found[0].message
    assert found[0].primary.span.path == "policies/privileges/driver.yaml"
    assert found[0].primary.span.start is not None


@pytest.mark.parametrize("name", WIDER_GRANTS)
def test_the_same_change_backwards_is_free(widened, name):
    backwards = GRANT | WIDER_GRANTS[name][0]
    whole = {"another workload", "another resource", "another image", "no pool", "every capability", "a path above"}
    whole |= {"another verb", "any verb"}
    if name in whole:  # neither contains the other
        return
    assert widened(grants(backwards), grants(GRANT)) == []


def without(field, value):
    return GRANT | {field: [item for item in GRANT[field] if item != value]}


def halves(field):
    values = GRANT[field]
    return [GRANT | {field: values[:1]}, GRANT | {field: values[1:]}]


NARROWER_GRANTS = {
    "nothing changed": [GRANT],
    "a privilege fewer": [without("privileges", "privileged")],
    "a verb fewer": [GRANT | {"privileges": ["rbac:core/nodes:get@cluster"]}],
    "a path below, read only": [GRANT | {"privileges": ["host-path:/run/nvidia/driver:ro:none"]}],
    "in one namespace only": [GRANT | {"privileges": ["rbac:core/nodes:get@ns/gpu-operator"]}],
    "a sooner day": [GRANT | {"expires": "2027-01-01"}],
    "one cluster": [GRANT | {"clusters": ["prod-eu"]}],
    "one pool": [GRANT | {"pools": ["a100-mig"]}],
    "a container fewer": [without("containers", "nvidia-fs-ctr")],
    "an image fewer": [without("images", "nvcr.io/nvidia/fs")],
    "in another order": [{key: sorted(value) if isinstance(value, list) else value for key, value in GRANT.items()}],
    "with other words": [GRANT | {"reason": "Other words.", "owner": "somebody-else"}],
    "halves of its privileges": halves("privileges"),
    "halves of its containers": halves("containers"),
    "halves of its images": halves("images"),
    "twice": [GRANT, GRANT],
    "none but another that is narrower": [GRANT | {"clusters": ["prod-eu"], "expires": "2027-01-01"}],
    "what pods hold as a whole, for other containers": [GRANT | {"containers": ["x"], "privileges": ["host-pid"]}],
}


@pytest.mark.parametrize("name", NARROWER_GRANTS)
@pytest.mark.parametrize("has_the_same_name", [True, False])
def test_a_narrower_grant_is_free(widened, name, has_the_same_name):
    specs = NARROWER_GRANTS[name]
    names = [f"{'grant' if has_the_same_name else 'renamed'}-{number}" for number in range(len(specs))]

    assert widened(grants(GRANT), grants(*specs, names=names)) == []


@pytest.mark.parametrize("field", ["privileges", "containers", "images"])
def test_halves_put_together_are_free(widened, field):
    assert widened(grants(*halves(field)), grants(GRANT)) == []


def test_files_and_comments_do_not_matter(widened):
    base = grants(GRANT)
    text = base["policies/privileges/driver.yaml"]

    assert (
        widened(base, {"policies/privileges/renamed.yaml": f"# a comment\n{json.dumps(json.loads(text), indent=2)}\n"})
        == []
    )


def test_a_new_grant_is_told_and_one_that_is_gone_is_free(widened):
    other = GRANT | {"workload": "DaemonSet/other"}

    (found,) = widened(grants(GRANT), grants(GRANT, other))

    assert "no grant of the base is for it" in found.message
    assert "`privileged`" in found.message
    assert widened(grants(GRANT, other), grants(GRANT)) == []


def test_without_any_grant_all_would_pass(widened):
    (found,) = widened(grants(GRANT), {"policies/README.md": "text\n"})

    assert "all of them would pass" in found.message
    assert widened({}, grants(GRANT)) == []
    assert widened({"policies/README.md": "text\n"}, grants(GRANT | {"clusters": ["*"]})) == []


WAIVER = {"rule": "host-network", "subject": "prod-eu/a", "expires": "2027-01-31"}
RULE = {"reason": "Everybody knows."}
SUPPLY = {
    "chartRepositories": ["https://helm.ngc.nvidia.com/nvidia"],
    "charts": [{"name": "gpu-operator", "versions": ["v26.*"]}],
    "gitRepositories": [
        {
            "url": "https://git.example.com/gpu.git",
            "revisions": ["refs/heads/main", "refs/tags/v*"],
            "paths": ["output"],
        }
    ],
    "deliveries": [{"clusters": ["*"], "projects": ["gpu"]}],
    "imageRegistries": ["nvcr.io/nvidia"],
    "mirrors": {"nvcr.io": ["registry.example.com/nvcr"]},
    "acceptUnknown": [
        {"cluster": "a", "unknown": "x", "reason": "Read it.", "owner": "gpu-platform", "expires": "2027-01-31"}
    ],
}


def changed(spec, path, value):
    """A copy with another value at a path; None takes it away."""
    found = copy.deepcopy(spec)
    target = found
    for key in path[:-1]:
        target = target[key]
    if value is None:
        del target[path[-1]]
    else:
        target[path[-1]] = value
    return found


def supplied(*path_and_value):
    return supply(**changed(SUPPLY, path_and_value[:-1], path_and_value[-1]))


GIT = SUPPLY["gitRepositories"][0]
UNKNOWN = SUPPLY["acceptUnknown"][0]
OTHERS = {
    "a waiver": ({}, waivers(WAIVER), "`host-network` on prod-eu/a would pass until 2027-01-31"),
    "a waiver for longer": (waivers(WAIVER), waivers(WAIVER | {"expires": "2027-02-01"}), "and not 2027-01-31"),
    "a waiver of another subject": (waivers(WAIVER), waivers(WAIVER | {"subject": "b"}), "on b would pass"),
    "a waiver of another rule": (
        waivers(WAIVER),
        waivers(WAIVER | {"rule": "output-out-of-date"}),
        "output-out-of-date",
    ),
    "a rule off": ({}, rules(**{"host-network": RULE | {"enabled": False}}), "turned off"),
    "a rule by its code off": ({}, rules(PSM403=RULE | {"enabled": False}), "turned off"),
    "a rule less severe": ({}, rules(**{"output-out-of-date": RULE | {"severity": "note"}}), "would be note"),
    "a rule no more severe": (rules(**{"host-network": {"severity": "error"}}), {}, "and not error"),
    "a parameter": ({}, rules(**{"expiring-grant": {"parameters": {"days": 1}}}), "`days` would be 1, and not 30"),
    "a parameter gone": (rules(**{"expiring-grant": {"parameters": {"days": 60}}}), {}, "would be 30, and not 60"),
    "no deny": (enforcement(actions=["Deny"]), {}, "would meet Warn and Audit, and not Deny"),
    "deny to warn": (enforcement(actions=["Deny"]), enforcement(actions=["Warn"]), "would meet Warn, and not Deny"),
    "deny for fewer": (
        enforcement(actions=["Deny"]),
        enforcement(actions=["Deny"], clusters=["lab-*"]),
        "clusters `*`",
    ),
    "deny for others": (
        enforcement(actions=["Deny"], clusters=["lab-*"]),
        enforcement(actions=["Deny"], clusters=["prod-*"]),
        "clusters `lab-*`",
    ),
    "no audit": ({}, enforcement(actions=["Warn"]), "would meet Warn, and not Warn and Audit"),
    "audit only": ({}, enforcement(actions=["Audit"], clusters=["prod"]), "clusters `prod`"),
    "a script": (enforcement(actions=["Deny"]), enforcement(actions=["Deny"], scripts=["curl x | sh"]), "curl x | sh"),
    "the first supply": ({}, supply(), "is new"),
    "no supply": (supply(**SUPPLY), {}, "without it"),
    "a chart repository": (
        supply(**SUPPLY),
        supplied("chartRepositories", ["https://evil.example"]),
        "https://evil.example",
    ),
    "a place above": (supply(**SUPPLY), supplied("chartRepositories", ["https://helm.ngc.nvidia.com"]), "charts from"),
    "a look-alike": (supply(**SUPPLY), supplied("imageRegistries", ["nvcr.io/nvidia-evil"]), "nvidia-evil"),
    "a chart": (supply(**SUPPLY), supplied("charts", 0, "name", "evil"), "chart `evil`"),
    "every version": (supply(**SUPPLY), supplied("charts", 0, "versions", None), "in every version"),
    "other versions": (supply(**SUPPLY), supplied("charts", 0, "versions", ["v*"]), "`v*`"),
    "another repository": (
        supply(**SUPPLY),
        supplied("gitRepositories", 0, "url", "https://evil.example/gpu.git"),
        "https://evil.example/gpu.git",
    ),
    "another branch": (supply(**SUPPLY), supplied("gitRepositories", 0, "revisions", ["refs/heads/*"]), "refs/heads/*"),
    "a folder": (supply(**SUPPLY), supplied("gitRepositories", 0, "paths", ["output", "evil"]), "folders `evil`"),
    "a project": (supply(**SUPPLY), supplied("deliveries", 0, "projects", ["gpu", "default"]), "`default`"),
    "a server": (supply(**SUPPLY), supplied("deliveries", 0, "server", "https://evil.example"), "https://evil.example"),
    "no longer held": (
        supply(gitRepositories=[GIT, GIT | {"clusters": ["prod"], "revisions": ["refs/tags/v*"]}]),
        supply(gitRepositories=[GIT]),
        "clusters `prod` would be held to Git repositories for many",
    ),
    "held to more": (
        supply(gitRepositories=[GIT, GIT | {"clusters": ["prod"], "revisions": ["refs/tags/v*"]}]),
        supply(gitRepositories=[GIT, GIT | {"clusters": ["prod"]}]),
        "at `refs/heads/main`",
    ),
    "a mirror": (supply(**SUPPLY), supplied("mirrors", "nvcr.io", ["evil.example/x"]), "evil.example/x"),
    "another mirror": (supply(**SUPPLY), supplied("mirrors", "quay.io", ["evil.example/x"]), "evil.example/x"),
    "an unknown": (supply(**SUPPLY), supplied("acceptUnknown", 0, "unknown", "y"), "`y` in `a`"),
    "an unknown for longer": (supply(**SUPPLY), supplied("acceptUnknown", 0, "expires", "2028-01-31"), "2028-01-31"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_else_lets_more_pass_is_told(widened, name):
    base, head, words = OTHERS[name]

    found = widened(base, head)

    assert found
    assert {item.code for item in found} == {"PSM660"}
    assert any(words in item.message for item in found), [item.message for item in found]
    accepted = widened(base, head, is_accepted=True)
    assert [item.message for item in accepted] == [item.message for item in found]
    assert {item.severity for item in accepted} == {Severity.NOTE}


FREE = {
    "no waiver": (waivers(WAIVER), {}),
    "a waiver for less": (waivers(WAIVER), waivers(WAIVER | {"expires": "2026-12-31"})),
    "a waiver in other words": (waivers(WAIVER), waivers(WAIVER | {"rule": "PSM403", "reason": "Other words."})),
    "waivers in another order": (
        waivers(WAIVER, WAIVER | {"subject": "b"}),
        waivers(WAIVER | {"subject": "b"}, WAIVER),
    ),
    "a rule more severe": ({}, rules(**{"host-network": {"severity": "error"}})),
    "a rule on again": (rules(**{"host-network": RULE | {"enabled": False}}), {}),
    "a rule that is off says more": (
        rules(**{"host-network": RULE | {"enabled": False}}),
        rules(**{"host-network": RULE | {"enabled": True}}),
    ),
    "a greater parameter": ({}, rules(**{"expiring-grant": {"parameters": {"days": 60}}})),
    "a setting by its code": (rules(**{"host-network": {"severity": "error"}}), rules(PSM403={"severity": "error"})),
    "enforcement": ({}, enforcement(actions=["Deny"])),
    "enforcement as by default": ({}, enforcement()),
    "deny for one": ({}, enforcement(actions=["Deny", "Audit"], clusters=["lab"])),
    "deny for more": (
        enforcement(actions=["Deny"], clusters=["lab"]),
        enforcement(actions=["Deny"], clusters=["l*", "p"]),
    ),
    "no audit of what is denied": (enforcement(actions=["Deny", "Audit"]), enforcement(actions=["Deny"])),
    "a script fewer": (enforcement(actions=["Deny"], scripts=["a"]), enforcement(actions=["Deny"])),
    "the same supply": (supply(**SUPPLY), supply(**SUPPLY)),
    "a place below": (supply(**SUPPLY), supplied("imageRegistries", ["nvcr.io/nvidia/driver"])),
    "no place": (supply(**SUPPLY), supplied("imageRegistries", [])),
    "one version": (supply(**SUPPLY), supplied("charts", 0, "versions", ["v26.3.3"])),
    "one tag": (supply(**SUPPLY), supplied("gitRepositories", 0, "revisions", ["refs/tags/v1"])),
    "no folder": (supply(**SUPPLY), supplied("gitRepositories", 0, "paths", None)),
    "one cluster": (supply(**SUPPLY), supplied("deliveries", 0, "clusters", ["a"])),
    "no mirror": (supply(**SUPPLY), supplied("mirrors", "nvcr.io", None)),
    "an unknown for less": (supply(**SUPPLY), supplied("acceptUnknown", 0, "expires", "2026-12-31")),
    "an unknown in other words": (supply(**SUPPLY), supplied("acceptUnknown", 0, "reason", "Read it again.")),
    "an entry of one's own that is narrower": (
        supply(**SUPPLY),
        supply(**SUPPLY | {"gitRepositories": [GIT, GIT | {"clusters": ["a"], "revisions": ["refs/tags/v*"]}]}),
    ),
    "tests and texts": ({"policies/README.md": "a"}, {"policies/README.md": "b"}),
}


@pytest.mark.parametrize("name", FREE)
def test_what_lets_no_more_pass_is_free(widened, name):
    assert [item.message for item in widened(*FREE[name])] == []


@pytest.mark.deep("a whole run, 0.8 s; its parts have tests of their own")
def test_a_grant_is_held_against_those_of_its_workload_and_not_against_all(tmp_path, monkeypatch):
    """Of n grants that change, n squared comparisons would take minutes."""

    def many(name, **change):
        files = grants(*(GRANT | {"workload": f"DaemonSet/w-{number}"} | change for number in range(800)))
        for path, text in files.items():
            (tmp_path / name / path).parent.mkdir(parents=True)
            (tmp_path / name / path).write_text(text)
        policies = Policies(tmp_path / name)
        assert len(policies.grants[0]) == 800
        return policies

    asked = []

    def counted(wide, narrow):
        asked.append(narrow)
        return covers(wide, narrow)

    monkeypatch.setattr("poolsmith.change.review.widened_grants.covers", counted)
    base, narrower, wider = many("a"), many("b", expires="2027-06-29"), many("c", clusters=["*"])

    assert list(policy_widening(base, narrower, is_accepted=False)) == []
    assert len(list(policy_widening(base, wider, is_accepted=False))) == 201
    assert 1_600 <= len(asked) < 80_000
