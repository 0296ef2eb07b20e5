"""Each disagreement with Kubernetes' own evaluator that random expressions have found, by name; none may come back."""

from __future__ import annotations

import pytest

from poolsmith.kubernetes.cel import Bindings, CelCompileError, CelEnvironment, CelError, NotEvaluated, engine_problem

pytestmark = pytest.mark.skipif(engine_problem() is not None, reason=str(engine_problem()))
ENVIRONMENT = CelEnvironment.of("1.34")
OBJECT = {"spec": {"int": 1, "texts": ["b", "a"], "zero": 0, "deep": {"a": {"b": 1}}}}
SAME_VALUE = {
    "flatten() leaves a type open, and string() decides for text": ("string(object.spec.texts.flatten()[0])", "b"),
    "int() decides for whole numbers": ("int([dyn([1])].flatten()[0])", 1),
    "the milliseconds of a duration that is dyn are all of them": ("dyn(duration('90s')).getMilliseconds()", 90_000),
    "a duration that is dyn has a negative": ("-(dyn(duration('90s'))) < duration('0s')", True),
    "so has a number": ("-(dyn(object.spec.int)) == -1", True),
    "those of a time that is dyn are of its second": (
        "dyn(timestamp('2024-01-01T00:00:01.5Z')).getMilliseconds()",
        500,
    ),
    "a loop variable hides no function": ("[1].all(optional, optional.of(1).hasValue())", True),
}
SAME_ERROR = {
    "string() of a type left open takes no bool": "string([dyn([true])].flatten()[0])",
    "int() of a type left open takes no double": "int([dyn([1.0])].flatten()[0])",
    "bytes() of a type left open takes no text": "bytes([dyn(['1'])].flatten()[0])",
    "isSorted() of a list of open type takes whole numbers only": "object.spec.texts.distinct().isSorted()",
    "min() too": "[dyn([3.5, 1.0])].flatten().min()",
    "max() too, with another type in the list": "[dyn(['a', 'b'])].flatten().max()",
    "sum() too": "[dyn([1.5])].flatten().sum()",
}
REFUSED = {
    "a conversion of a constant that fails": "int(dyn('a')) == 1",
    "even where nothing reads it": "true || int(string(dyn(''))) == 1",
    "of a list": "string(dyn([1])) == ''",
    "of a time to a double": "double(dyn(timestamp('2023-01-01T00:00:00Z'))) > 1.0",
    "of a text to a time": "duration(string(true)) == duration('1s')",
    "of a number to a time": "duration(dyn(1)) == duration('1s')",
    "maps of two types in a list": "[[1].transformMapEntry(i, v, {string(i): 3}), {'a': dyn(1)}].size() == 2",
}
NOT_EVALUATED = {
    "what optMap makes of an optional": "optional.of(1).optMap(v, optional.of(v)).value().hasValue()",
    "of an optional that is dyn": "optional.of(1).optMap(v, dyn(optional.of(2))).value().hasValue()",
    "of none": "optional.of(1).optMap(v, optional.none()).value().hasValue()",
    "of a field that may be missing": "object.?spec.optMap(s, s.?int).value().value() == 1",
    "an optional in an optional": "optional.of(optional.of(2)).optMap(x, x).value().value() == 2",
    "an optional entry of a map of optionals": "{'a': optional.of(4)}.?a.value().value() == 4",
}
HIDDEN_OPTIONALS = {
    "in a list, by a loop": "[1].map(x, dyn(optional.none())).indexOf('a') == 0",
    "in a map": "{'a': dyn(optional.of(1))}.transformMapEntry(k, v, {k: v}) == {}",
    "by the variable of a loop": "{'a': dyn(optional.of(1))}.transformMap(k, v, v) == {}",
    "in a list of maps": "[{'a': dyn(optional.of(1))}].sortBy(x, 1).size() == 1",
    "by one way of two": "object.spec.texts.map(x, true ? dyn(object.?spec) : dyn(1)).distinct() == []",
    "in a sum of lists": "([dyn(1)] + dyn([optional.of(1)])).distinct() == []",
    "in a list that is dyn": "dyn([object.?spec.int]).sum() == 1",
}
LOST = {
    "fractions of a microsecond of a duration": "[duration('2ns'), duration('1ns')].isSorted()",
    "of a time": "timestamp('2020-01-01T00:00:00.123456789Z') > timestamp(0)",
    "of a duration that is read": "duration(string(object.spec.int) + 'ns') > duration('0s')",
    "of a time that is read": "timestamp('20' + '20-01-01T00:00:00.1234567Z') > timestamp(0)",
    "the time zone of a time": "string(dyn(timestamp('2020-01-01T00:00:00+02:00'))) == ''",
    "in a format": "'%s'.format([timestamp('2020-01-01T00:00:00+02:00')]) == ''",
}


def compiled(expression):
    return ENVIRONMENT.compile(expression, ENVIRONMENT.scope(params=False))


def value(expression):
    return compiled(expression).evaluate(Bindings(object=OBJECT, old_object=None, request={"operation": "CREATE"}))


@pytest.mark.parametrize(("expression", "expected"), SAME_VALUE.values(), ids=SAME_VALUE)
def test_the_value_is_the_api_servers(expression, expected):
    assert value(expression) == expected


@pytest.mark.parametrize("expression", SAME_ERROR.values(), ids=SAME_ERROR)
def test_the_api_server_has_an_error_here(expression):
    with pytest.raises(CelError, match="no such overload"):
        value(expression)


@pytest.mark.parametrize("expression", REFUSED.values(), ids=REFUSED)
def test_the_api_server_stores_no_such_policy(expression):
    with pytest.raises(CelCompileError, match=r"program instantiation failed|expected type"):
        compiled(expression)


@pytest.mark.parametrize("expression", NOT_EVALUATED.values(), ids=NOT_EVALUATED)
def test_an_optional_in_an_optional_is_not_evaluated(expression):
    """The API server's evaluator takes the inner one out at every name and condition: mostly an error there."""
    with pytest.raises(NotEvaluated, match="an optional that holds an optional"):
        value(expression)


@pytest.mark.parametrize("expression", HIDDEN_OPTIONALS.values(), ids=HIDDEN_OPTIONALS)
def test_an_optional_where_no_type_shows_it_is_not_handed_over(expression):
    """The engine ended the process with some of them."""
    with pytest.raises(NotEvaluated, match="optional"):
        value(expression)


@pytest.mark.parametrize("variable", ("object.?spec", "[dyn(optional.of(1))]", "[1].map(x, dyn(optional.of(x)))"))
@pytest.mark.parametrize("expression", ("variables.a.indexOf(1) == 0", "[dyn(variables.a)].distinct() == []"))
def test_nor_out_of_a_variable(variable, expression):
    scope = ENVIRONMENT.scope(params=False)
    scope = scope.with_variable("a", ENVIRONMENT.compile(variable, scope))
    bindings = Bindings(object=OBJECT, old_object=None, request={"operation": "CREATE"})
    with pytest.raises((NotEvaluated, CelError), match=r"optional|no such overload"):
        ENVIRONMENT.compile(expression, scope).evaluate(bindings)


@pytest.mark.parametrize("expression", LOST.values(), ids=LOST)
def test_what_plain_values_would_lose_is_not_evaluated(expression):
    with pytest.raises(NotEvaluated, match=r"fraction of a microsecond|time zone"):
        value(expression)
