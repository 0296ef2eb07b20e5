"""Which fields of an object a policy reads, and which of them the API server fills in."""

from __future__ import annotations

import pytest

from poolsmith.kubernetes.admission.policy import Expression, MatchResources, Named, Policy, Validation
from poolsmith.kubernetes.admission.policy_expressions import absent_defaults, fields_read


def reads(*expressions, **variables):
    policy = Policy(
        name="p",
        placed=None,
        match=MatchResources(),
        variables=tuple(Named(name, Expression(text, "")) for name, text in variables.items()),
        validations=tuple(Validation(index=i, expression=Expression(text, "")) for i, text in enumerate(expressions)),
    )
    return {".".join(path) for path in fields_read(policy)}


@pytest.mark.parametrize(
    ("expression", "paths"),
    [
        ("object.spec.replicas == 1", {"spec.replicas"}),
        ("has(object.spec.hostNetwork)", {"spec.hostNetwork"}),
        ("object.spec.?hostNetwork.orValue(false)", {"spec.hostNetwork"}),
        ("object.metadata.labels['app'] == 'a'", {"metadata.labels.app"}),
        ("object.spec.containers[0].image == 'a'", {"spec.containers.*.image"}),
        ("object.spec.containers.all(c, c.image != '')", {"spec.containers", "spec.containers.*.image"}),
        ("object.spec.containers.all(c, c.ports.all(p, p.hostPort == 0))", {"spec.containers", "spec.containers.*.ports", "spec.containers.*.ports.*.hostPort"}),
        ("object.a[object.b] == 1", {"a.*", "b"}),
        ("[1].all(object, object == 1)", set()),
        ("oldObject.spec.replicas == params.x", set()),
        ("object.spec.", set()),
    ],
)  # fmt: skip
def test_fields_are_read(expression, paths):
    assert reads(expression) == paths


def test_variables_lead_on():
    assert reads("variables.c.all(x, x.image != '')", s="object.spec", c="variables.s.containers") == {
        "spec",
        "spec.containers",
        "spec.containers.*.image",
    }


def test_only_what_is_left_out_and_filled_in_counts():
    paths = (("spec", "dnsPolicy"), ("spec", "hostPID"), ("spec", "containers", "*", "imagePullPolicy"))
    pod = {"kind": "Pod", "spec": {"containers": [{"name": "a"}, {"name": "b", "imagePullPolicy": "Always"}]}}

    assert absent_defaults(paths, pod) == ("spec.dnsPolicy", "spec.containers[].imagePullPolicy")
    assert absent_defaults(paths, pod | {"spec": {"dnsPolicy": "Default", "containers": []}}) == ()
    assert absent_defaults(paths, {"kind": "Widget", "spec": {}}) == ()
