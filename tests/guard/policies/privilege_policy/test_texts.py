"""Python and CEL read the same out of a pod, and the tokens are those of the ledger."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolsmith.core.sources.pod_template import pod_template_of
from poolsmith.guard.ledger.claims.claim_table import claim_table
from poolsmith.guard.ledger.claims.pod_claims import claims_of
from poolsmith.guard.ledger.workload_privileges import pod_privileges
from poolsmith.guard.policies.privilege_policy.validating_policy import _policy_document as privilege_policy
from poolsmith.kubernetes.cel import Bindings, CelEnvironment


def test_wants_are_the_privileges_of_the_ledger(cluster):
    for item in cluster.objects:
        template = pod_template_of(item)
        if template is not None:
            own = {
                ("" if want.whole else claims.name, want.privilege)
                for claims in claims_of(template, "any")
                for want in claims.wants
                if want.privilege is not None
            }
            assert own == set(pod_privileges(template))


@pytest.mark.rows(5, "a row takes 0.12 s; each value of each column is seen first")
def test_keys_and_texts_of_a_pod_are_the_same_in_cel(cluster, helpers):
    """A table of just that pod, asked for nothing: each text of Python is one of CEL, and the other way round."""
    for item in cluster.objects:
        pod = helpers.as_admitted_pod(item)
        if pod is None or item["kind"] == "Job":
            continue
        asked = _asked(pod)
        own = claims_of(pod, pod["metadata"]["namespace"])
        assert [one["key"] for one in asked] == [[claims.key] for claims in own]
        for one, claims in zip(asked, own, strict=True):
            assert set(one["wants"]) == {want.text for want in claims.wants}
            assert set(one["has"]) == set(map(_valued, claims.has))


def _valued(text):
    """A variable without a value has the empty one in the cluster."""
    return f"{text}=" if text.startswith("env:") and "=" not in text and "<" not in text else text


TEXT = st.text(alphabet="ab|%: =<[]'\"\\\n/é😀", max_size=6)
NAMES = st.sampled_from(["a", "b-1"])
PODS = st.fixed_dictionaries(
    {
        "containers": st.lists(
            st.fixed_dictionaries(
                {"name": NAMES, "image": TEXT.map(lambda text: f"x{text}")},
                optional={
                    "command": st.lists(TEXT, max_size=3),
                    "args": st.lists(TEXT, max_size=3),
                    "env": st.lists(st.fixed_dictionaries({"name": TEXT, "value": TEXT}), max_size=2),
                    "envFrom": st.lists(
                        st.fixed_dictionaries(
                            {}, optional={"prefix": TEXT, "secretRef": st.fixed_dictionaries({"name": TEXT})}
                        ),
                        max_size=2,
                    ),
                    "workingDir": TEXT.filter(bool),
                    "volumeMounts": st.lists(
                        st.fixed_dictionaries(
                            {"name": st.just("v"), "mountPath": TEXT},
                            optional={"subPath": TEXT, "readOnly": st.just(True), "mountPropagation": st.just("None")},
                        ),
                        max_size=2,
                    ),
                    "lifecycle": st.fixed_dictionaries({"preStop": st.just({"exec": {"command": ["a|b", "%7C"]}})}),
                    "securityContext": st.fixed_dictionaries(
                        {},
                        optional={
                            "privileged": st.booleans(),
                            "runAsUser": st.sampled_from([0, 7]),
                            "runAsNonRoot": st.booleans(),
                            "runAsGroup": st.sampled_from([0, 7]),
                            "allowPrivilegeEscalation": st.booleans(),
                            "readOnlyRootFilesystem": st.booleans(),
                            "capabilities": st.just({"add": ["SYS_ADMIN"], "drop": ["ALL"]}),
                            "seLinuxOptions": st.sampled_from([{"type": "spc_t", "level": "s0"}, {"user": "u"}, {}]),
                            "windowsOptions": st.sampled_from([{"hostProcess": False}, {}]),
                            "seccompProfile": st.just({"type": "Localhost", "localhostProfile": "x"}),
                            "appArmorProfile": st.just({"type": "Unconfined"}),
                            "procMount": st.just("Unmasked"),
                        },
                    ),
                },
            ),
            min_size=1,
            max_size=2,
        ),
        "volumes": st.sampled_from(
            [
                [{"name": "v", "hostPath": {"path": "/a b:c"}}],
                [{"name": "v", "configMap": {"name": "c", "items": [{"key": "a", "path": "b c"}]}}],
                [{"name": "v", "emptyDir": {}}, {"name": "w", "nfs": {"server": "a", "path": "/"}}],
                [{"name": "v", "secret": {"secretName": "s"}}, {"name": "w", "hostPath": {"path": "/"}}],
            ]
        ),
    },
    optional={
        "hostPID": st.booleans(),
        "hostNetwork": st.booleans(),
        "shareProcessNamespace": st.booleans(),
        "hostAliases": st.just([{"ip": "1.1.1.1"}]),
        "runtimeClassName": TEXT.filter(bool),
        "securityContext": st.fixed_dictionaries(
            {},
            optional={
                "runAsUser": st.sampled_from([0, 9]),
                "runAsNonRoot": st.booleans(),
                "fsGroup": st.just(5),
                "seccompProfile": st.just({"type": "Unconfined"}),
                "seLinuxOptions": st.sampled_from([{"type": "a_t", "role": "r"}, {}]),
                "windowsOptions": st.just({"hostProcess": True}),
                "sysctls": st.just([{"name": "kernel.x", "value": "1"}]),
            },
        ),
    },
)


@given(PODS)
def test_made_up_pods_read_the_same_in_cel(spec):
    pod = {"metadata": {"namespace": "n", "annotations": {"cdi.k8s.io/x": "y"}}, "spec": spec}
    own = claims_of(pod, "n")
    for one, claims in zip(_asked(pod), own, strict=True):
        assert one["key"] == [claims.key]
        assert set(one["wants"]) == {want.text for want in claims.wants}
        assert set(one["has"]) == set(claims.has)


@given(PODS)
def test_made_up_pods_want_what_the_ledger_says(spec):
    template = {"spec": {**spec, "containers": [{**own, "name": f"c{n}"} for n, own in enumerate(spec["containers"])]}}
    own = {
        ("" if want.whole else claims.name, want.privilege)
        for claims in claims_of(template, "any")
        for want in claims.wants
        if want.privilege is not None
    }
    assert own == set(pod_privileges(template))


def _asked(pod):
    return _compiled().evaluate(
        Bindings(object=pod, old_object=None, request={"namespace": pod["metadata"]["namespace"]})
    )


_known = []


def _compiled():
    if not _known:
        environment = CelEnvironment.of("1.30")
        scope = environment.scope(params=False)
        for variable in privilege_policy(claim_table((), lambda *_: True))["spec"]["variables"]:
            compiled = environment.compile(variable["expression"], scope)
            scope = scope.with_variable(variable["name"], compiled)
            if variable["name"] == "asked":
                _known.append(compiled)
    return _known[0]
