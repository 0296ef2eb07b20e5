"""What the API server's cost limit might stop is no pass; what it can't is evaluated. Costs are those of Kubernetes 1.34."""

from __future__ import annotations

import pytest

from poolsmith.kubernetes.cel import Bindings, CelEnvironment, NotEvaluated

ENVIRONMENT = CelEnvironment.of("1.34")
SCOPE = ENVIRONMENT.scope(params=False)
LONG = {"data": {"x": "abc " * 50_000}}
MANY = {"items": ["t" * 2_000] * 1_000}


def evaluate(source, body):
    bindings = Bindings(object=body, old_object=None, request={})
    return ENVIRONMENT.compile(source, SCOPE).evaluate(bindings)


# the API server's evaluator: cost limit exceeded
STOPPED = [
    ("[" + ", ".join(f"'word{number}'" for number in range(60)) + "].all(w, !object.data.x.contains(w))", LONG),
    ("object.items.all(a, object.items.filter(b, a == b).size() > 0)", MANY),
    (
        "object.items.all(a, a.matches('^(t|u|v|w|x|y|z)*$') && !a.matches('[0-9]+[a-s]+'))",
        {"items": ["t" * 4_000] * 400},
    ),
]
# below the limit there: 204,003 of 1,000,000 at most
CHEAP = [
    ("object.data.all(k, k.size() < 100)", LONG),
    ("!object.data.x.contains('zzz')", LONG),
    ("object.data.x.matches('^[a-c ]*$')", LONG),
    ("object.data.x != 'y' && object.data.x.size() > 10", LONG),
    ("object.items.all(i, i != 'u')", MANY),
    ("object.items.all(i, i.startsWith('t'))", MANY),
]


@pytest.mark.parametrize(("source", "body"), STOPPED)
def test_what_could_pass_the_limit_is_not_evaluated(source, body):
    with pytest.raises(NotEvaluated, match="cost limit"):
        evaluate(source, body)


@pytest.mark.parametrize(("source", "body"), CHEAP)
def test_what_stays_below_it_on_large_objects_is_evaluated(source, body):
    assert evaluate(source, body) is True


@pytest.mark.parametrize("source", [source for source, _ in STOPPED[1:]])
def test_small_objects_are_never_asked(source):
    assert evaluate(source, {"items": ["t" * 20] * 20}) is True


def test_a_variable_counts_for_itself():
    loop = ENVIRONMENT.compile(STOPPED[1][0], SCOPE)
    whole = ENVIRONMENT.compile("variables.same || true", SCOPE.with_variable("same", loop))

    with pytest.raises(NotEvaluated, match="cost limit"):
        whole.evaluate(Bindings(object=MANY, old_object=None, request={}))
