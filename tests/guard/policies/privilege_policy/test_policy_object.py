"""The policy as an object: what it matches, its sizes, and that every supported Kubernetes takes it."""

from __future__ import annotations

import random

import pytest

from poolsmith.core.sources.yaml_reader import read_documents
from poolsmith.core.sources.yaml_writer import emit
from poolsmith.guard.ledger.claims.claim_table import ClaimTable
from poolsmith.guard.policies.privilege_policy.validating_policy import (
    LONGEST,
    LONGEST_DATA,
    LONGEST_EXPRESSION,
    data_size,
    is_too_large,
    list_literal,
    map_literals,
    privilege_binding,
    render_privilege_policy,
    text_literal,
)
from poolsmith.guard.policies.privilege_policy.validating_policy import _policy_document as privilege_policy
from poolsmith.kubernetes.admission.policy_expressions import compile_policy
from poolsmith.kubernetes.cel import Bindings, CelEnvironment

MINORS = [f"1.{minor}" for minor in range(30, 38)]


@pytest.mark.rows(3, "the first, the last and one between")
@pytest.mark.parametrize("minor", MINORS)
def test_every_kubernetes_that_serves_policies_takes_it(prod, minor):
    compiled = compile_policy(prod.judge.compiled.policy, minor)
    assert compiled.issues == ()
    assert compiled.undecidable == ()


def test_it_holds_pods_their_debugging_containers_and_annotations_in_its_namespaces(prod):
    spec = privilege_policy(prod.table)["spec"]
    constraints = spec["matchConstraints"]
    rules = [(rule["operations"], rule["resources"]) for rule in constraints["resourceRules"]]
    assert rules == [(["CREATE", "UPDATE"], ["pods"]), (["UPDATE"], ["pods/ephemeralcontainers", "pods/status"])]
    (selector,) = constraints["namespaceSelector"]["matchExpressions"]
    assert selector == {"key": "kubernetes.io/metadata.name", "operator": "In", "values": ["gpu-operator"]}
    assert spec["failurePolicy"] == "Fail"
    assert "paramKind" not in spec


def test_only_the_data_differs_between_clusters(helpers):
    def fixed(name):
        spec = privilege_policy(helpers._cluster(name).table)["spec"]
        own = ("accounts", "repositories", "identities", "forms")
        return [item for item in spec["variables"] if not item["name"].startswith(own)], spec["validations"]

    assert len({repr(fixed(name)) for name in helpers.FLEET}) == 1


def test_expressions_and_data_stay_bounded(cluster):
    policy = privilege_policy(cluster.table)
    expressions = [item["expression"] for item in policy["spec"]["variables"]]
    assert max(map(len, expressions)) < 35_000 < LONGEST_EXPRESSION
    assert data_size(cluster.table) < 35_000 < LONGEST_DATA
    assert len(emit(policy)) < 64_000
    assert not is_too_large(cluster.table)


@pytest.mark.deep("every pod of a large cluster")
def test_more_data_stands_in_more_variables_and_too_much_is_told(prod, helpers):
    def with_pools(number):
        many = {
            f"{key}|a:{index}": (*texts, f"env:POOL={index}")
            for index in range(number)
            for key, texts in prod.table.identities.items()
        }
        return ClaimTable(
            prod.table.identities | many, prod.table.accounts, prod.table.repositories, prod.table.namespaces
        )

    table = with_pools(4)
    assert data_size(table) > LONGEST
    assert not is_too_large(table)
    policy = privilege_policy(table)
    names = [item["name"] for item in policy["spec"]["variables"]]
    assert {"forms0", "forms1"} < set(names)
    judge = helpers.Judge(table)
    assert {judge.verdict(pod) for pod in prod.pods.values()} == {"allow"}
    assert is_too_large(with_pools(40))


def test_a_single_text_that_no_expression_takes_is_told(prod):
    long = {"main|a/b|c|d|a:" + "x" * LONGEST_EXPRESSION: ()}
    assert is_too_large(ClaimTable(prod.table.identities | long, (), (), ("a",)))


def test_the_same_claims_are_the_same_bytes(prod, helpers):
    objects = list(prod.objects)
    random.Random(4).shuffle(objects)
    again = helpers.claim_table(objects, lambda *_: True)
    assert emit(privilege_policy(again)) == emit(privilege_policy(prod.table))


def test_expressions_are_block_scalars_that_read_back(prod):
    text = emit(privilege_policy(prod.table))
    assert "expression: |\n" in text
    assert 'expression: "' not in text
    assert read_documents(text, []) == [privilege_policy(prod.table)]


def test_nothing_is_rendered_where_nothing_is_held(prod):
    assert render_privilege_policy(prod.table.holding(()), "platform", ["Warn"], ()) == []


@pytest.mark.deep("every pod of a large cluster")
def test_two_tables_together_let_the_pods_of_both_start(helpers):
    edge, prod = helpers._cluster("edge"), helpers._cluster("prod-eu")
    judge = helpers.Judge(edge.table | prod.table)
    for cluster in (edge, prod):
        assert {judge.verdict(pod) for pod in cluster.pods.values()} == {"allow"}
    assert edge.judge.verdict(prod.pods["DaemonSet/nvidia-container-toolkit-daemonset"]) == "deny"


@pytest.mark.deep("every pod of a large cluster")
def test_a_script_of_which_only_the_length_is_known_is_refused_until_its_text_is_given(helpers):
    real = helpers._cluster("kata-a10")
    assert real.table.unknown == ()
    name = "DaemonSet/gpu-feature-discovery"
    script = next(item for item in real.pods[name]["spec"]["initContainers"] if "imex" in item["name"])["args"][0]
    marker = f"<script {len(script)} chars>"
    objects = _with_text(real.objects, script, marker)
    blind = helpers.claim_table(objects, lambda *_: True)
    assert {container for _, container in blind.unknown} == {"gpu-feature-discovery-imex-init"}
    judge = helpers.Judge(blind)
    assert {name for name, pod in real.pods.items() if judge.verdict(pod) == "deny"} == {name}
    told = helpers.claim_table(objects, lambda *_: True, ["x" * len(script), script])
    assert told.unknown == ()
    assert helpers.Judge(told).verdict(real.pods[name]) == "allow"
    other = helpers.copied(real.pods[name])
    init = next(item for item in other["spec"]["initContainers"] if "imex" in item["name"])
    init["args"] = ["y" * len(script)]
    assert real.judge.verdict(other) == helpers.Judge(told).verdict(other) == "deny"


def _with_text(node, text, instead):
    if isinstance(node, dict):
        return {key: _with_text(item, text, instead) for key, item in node.items()}
    if isinstance(node, list | tuple):
        return [_with_text(item, text, instead) for item in node]
    return instead if node == text else node


@pytest.mark.parametrize(
    "part",
    [
        {"env": [{"name": "A", "value": "<script 300 chars>"}]},
        {"lifecycle": {"preStop": {"exec": {"command": ["sh", "-c", "<script 300 chars>"]}}}},
    ],
)
def test_other_texts_that_are_not_known_are_told_too(helpers, part):
    pod = {"kind": "Pod", "metadata": {"name": "a", "namespace": "b"}, "spec": {"containers": [{"name": "c", **part}]}}
    assert helpers.claim_table([pod], lambda *_: True).unknown == (("b/Pod/a", "c"),)


def test_actions_are_the_bindings():
    assert privilege_binding(["Warn", "Audit"])["spec"] == {
        "policyName": "poolsmith-privileges",
        "validationActions": ["Warn", "Audit"],
    }


TEXTS = ("plain", "it's", "back\\slash", "line\nbreak\r\ttab", "é", "😀", "\x00\x1b[31m", "\u2028", '"', "${x} `a`", "")


@pytest.mark.parametrize("text", TEXTS)
def test_literals_say_what_they_were_made_of(text):
    def value(source):
        environment = CelEnvironment.of("1.30")
        compiled = environment.compile(source, environment.scope(params=False))
        return compiled.evaluate(Bindings(object={}, old_object=None, request={}))

    assert value(text_literal(text)) == text
    assert value(list_literal((text, "x"))) == [text, "x"]
    (literal,) = map_literals({text: (text,)})
    assert value(literal) == {text: [text]}
    (literal,) = map_literals({text: text})
    assert value(literal) == {text: text}
