"""What is bound after a loop that ended early has its own value: the engine leaves that loop's variable behind.

Expected values are those of Kubernetes' own evaluator.
"""

from __future__ import annotations

import itertools

import pytest

from poolsmith.kubernetes.cel import Bindings, CelEnvironment, engine_problem

pytestmark = pytest.mark.skipif(engine_problem() is not None, reason=str(engine_problem()))
ENVIRONMENT = CelEnvironment.of("1.34")
OBJECT = {"spec": {"l": ["a", "b"], "m": {"x": {"b": 1}, "a": None}, "t": "5"}}
ENDING_EARLY = {
    "object.spec.l.exists(s, s == 'a')": True,
    "object.spec.l.all(s, s == 'b')": False,
    "object.spec.m.exists(k, k == 'x')": True,
    "object.spec.l.exists(i, s, s == 'a')": True,
    "object.spec.l.all(i, s, i > 0)": False,
    "[[1, 2], [3, 4]].exists(p, p.exists(n, n == 1))": True,
    "object.spec.l.filter(s, object.spec.l.exists(t, s == t)) == object.spec.l": True,
}
BINDING = {
    "optional.of('bound').optMap(x, x + '!').orValue('none')": "bound!",
    "optional.of('bound').optFlatMap(x, optional.of(x)).orValue('none')": "bound",
    "optional.of('5').optMap(x, int(x)).orValue(0)": 5,
    "object.spec.?t.optMap(x, int(x)).orValue(0)": 5,
    "optional.of(1).optFlatMap(x, optional.of(x + 1).optMap(y, [x, y])).value()": [1, 2],
    "has({'x': object.spec.m}.x.b)": False,
    "has({'x': {'b': 1}}.x.b)": True,
    "{'x': object.spec.m}.?x.?b.hasValue()": False,
    "object.spec.m.?x.?b.orValue(3)": 1,
    "object.?spec.?m.?x.?b.orValue(0)": 1,
    "object.spec.m[?'b'].hasValue()": False,
    "dyn({'b': 2})[?'b'].orValue(0)": 2,
    "['q', 'r'].first().value()": "q",
    "['q', 'r'].last().orValue('')": "r",
    "['q', 'p'].sortBy(e, e)": ["p", "q"],
    "object.spec.m.x.b in object.spec.m": False,
    "['q'].indexOf('q')": 0,
    "object.spec.m.x.orValue({}).b": 1,
}
PLACES = (
    ("[dyn({early}), dyn({binding})]", lambda early, value: [early, value]),
    ("{early} || true ? dyn({binding}) : dyn(0)", lambda _, value: value),
    ("[1, 2].map(q, {early} ? dyn({binding}) : dyn({binding}))", lambda _, value: [value, value]),
    ("[dyn(variables.early), dyn(variables.bound), dyn({early}), dyn({binding})]", lambda a, b: [a, b, a, b]),
)


@pytest.mark.parametrize(("place", "expected"), PLACES)
def test_bindings_after_a_loop_that_ended_early(place, expected):
    for (early, ended), (binding, value) in itertools.product(ENDING_EARLY.items(), BINDING.items()):
        scope = ENVIRONMENT.scope(params=False)
        for name, source in (("early", early), ("bound", binding)):
            scope = scope.with_variable(name, ENVIRONMENT.compile(source, scope))
        written = place.replace("{early}", early).replace("{binding}", binding)
        bindings = Bindings(object=OBJECT, old_object=None, request={"operation": "CREATE"})
        assert ENVIRONMENT.compile(written, scope).evaluate(bindings) == expected(ended, value), written


def test_bindings_after_loops_in_an_expression_too_deep_for_the_engine():
    deep = "!(" * 60 + "object.spec.l.exists(s, s == 'a') && optional.of('q').optMap(x, x).value() == 'q'" + ")" * 60
    bindings = Bindings(object=OBJECT, old_object=None, request={"operation": "CREATE"})
    assert ENVIRONMENT.compile(deep, ENVIRONMENT.scope(params=False)).evaluate(bindings) is True


def test_a_guard_that_ended_early_does_not_admit():
    """A false allow once: the optional held the last element that the loop had seen."""
    guard = "object.spec.l.exists(s, s == 'a') && object.spec.?user.optMap(u, u != 'root').orValue(true)"
    for user, allowed in (("root", False), ("b", True)):
        review = {"spec": {"l": ["a", "b"], "user": user}}
        bindings = Bindings(object=review, old_object=None, request={"operation": "CREATE"})
        assert ENVIRONMENT.compile(guard, ENVIRONMENT.scope(params=False)).evaluate(bindings) is allowed


HIDING = (
    "bool",
    "cel",
    "double",
    "int",
    "list",
    "map",
    "object",
    "optional",
    "optional_type",
    "size",
    "string",
    "type",
)


@pytest.mark.parametrize("name", HIDING)
def test_a_loop_variable_hides_nothing_that_lowered_text_means(name):
    bodies = (
        "[3, 2].sortBy(e, e) == [2, 3]",
        "[1].transformMap(i, v, v + i) == {0: 1}",
        "optional.of(1).optMap(v, v).orValue(0) == 1",
        "string(dyn([1])[0]) == '1'",
        "has(dyn({'x': {'b': 1}}).x.b)",
        "{'x': {'b': 1}}.?x.?b.hasValue()",
        "[1, 2].first().orValue(0) == 1",
        "dyn({'b': 2})[?'b'].hasValue()",
        f"{name} == 'x'",
    )
    written = f"['x'].exists({name}, {' && '.join(bodies)})"
    if name in ("string", "type"):
        written = written.replace("string(dyn([1])[0]) == '1' && ", "")
    bindings = Bindings(object=OBJECT, old_object=None, request={"operation": "CREATE"})
    assert ENVIRONMENT.compile(written, ENVIRONMENT.scope(params=False)).evaluate(bindings) is True
