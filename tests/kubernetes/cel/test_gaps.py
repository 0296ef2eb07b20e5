"""Where the engine differs from cel-go, the API server's answer comes out all the same, or none does."""

from __future__ import annotations

import pytest

from poolsmith.kubernetes.cel import Bindings, CelEnvironment, CelError, NotEvaluated, engine_problem

pytestmark = pytest.mark.skipif(engine_problem() is not None, reason=str(engine_problem()))
ENVIRONMENT = CelEnvironment.of("1.34")
OBJECT = {"spec": {"one": 1, "nothing": None, "text": "x", "list": [1, 2], "map": {"a": 1}, "half": 0.5}}


def value(expression, **variables):
    scope = ENVIRONMENT.scope(params=False)
    for name, source in variables.items():
        scope = scope.with_variable(name, ENVIRONMENT.compile(source, scope))
    bindings = Bindings(object=OBJECT, old_object=None, request={"operation": "CREATE"})
    return ENVIRONMENT.compile(expression, scope).evaluate(bindings)


@pytest.mark.parametrize(
    ("expression", "expected"),
    (
        ("object.spec.one.orValue(7)", 1),
        ("object.spec.?one.orValue(7)", 1),
        ("object.spec.?two.orValue(7)", 7),
        ("object.spec.one.or(optional.of(7)).orValue(2) == 1", True),
        ("has(object.spec.nothing.x)", False),
        ("has(object.spec.text.x)", False),
        ("has(oldObject.spec)", False),
        ("object.spec.nothing.?x.hasValue()", False),
        ("oldObject.?spec.?x.hasValue()", False),
        ("object.spec.text[?'a'].hasValue()", False),
        ("object.spec.?nothing.hasValue()", True),
        ("object.?spec.list[0].orValue(5)", 1),
        ("object.?spec.list[9].orValue(5)", 5),
        ("size(object.spec.list) < 2.5", True),
        ("object.spec.one < 1.5 && 0.25 < object.spec.half", True),
        ("object.spec.map.transformMap(k, v, v + 1)", {"a": 2}),
        ("object.spec.list.transformMap(i, v, v > 1, v)", {1: 2}),
        ("object.spec.map.transformMapEntry(k, v, {string(v): k})", {"1": "a"}),
        ("'%s'.format([['a', 'b']])", '["a", "b"]'),
        ("'%s'.format([{'b': 1, 'a': true}])", '{"a":true, "b":1}'),
        ("'%e'.format([1234.5])", "1.234500\u00d710\u2070\u00b3"),
        ("duration('1.5s').getMilliseconds()", 1500),
        ("string(1e6) + string(0.5)", "1e+060.5"),
        ("object.spec.nothing in object.spec.map", False),
        ("quantity('1') == quantity('1000m')", True),
        ("quantity('1000m').isInteger()", False),
    ),
)
def test_gaps_of_the_engine_are_closed(expression, expected):
    assert value(expression) == expected


@pytest.mark.parametrize(
    ("expression", "message"),
    (
        ("object.spec.two", "no such key: two"),
        ("object.spec.nothing.x", "no such key: x"),
        ("object.spec.list.x == 1", "unsupported index type 'string' in list"),
        ("object.spec.list[5]", "index out of bounds: 5"),
        ("object.spec.one.all(x, true)", "got 'types.Int', expected iterable type"),
        ("object.spec.one + 'a'", "no such overload"),
        ("object.spec.map + object.spec.one", "no such overload: _+_"),
        ("quantity(object.spec.one)", "no such overload: quantity(int)"),
        ("1 / 0", "division by zero"),
        ("9223372036854775807 + 1", "integer overflow"),
        ("int(object.spec.text)", "type conversion error from 'string' to 'int'"),
        ("optional.none().value()", "optional.none() dereference"),
        ("[].max()", "max called on empty list"),
    ),
)
def test_errors_have_the_words_of_the_api_server(expression, message):
    with pytest.raises(CelError) as error:
        value(expression)
    assert str(error.value) == message


def test_a_type_that_the_checker_guessed_is_not_trusted():
    """orValue('0') makes the checker believe in a string; the API server then refuses the number."""
    with pytest.raises(CelError, match=r"no such overload: string\(int\)"):
        value("string(object.spec.?map[?'a'].orValue('0'))")


@pytest.mark.parametrize(
    "expression",
    (
        "'%s'.format([int]) == 'int'",
        "string(timestamp('2020-01-01T00:00:00+02:00')) == ''",
        "type(ip('::1')) == net.IP",
        "type(quantity('1')) == type(quantity('2'))",
        "[timestamp('2020-01-01T00:00:00Z')].reverse().size() == 1",
        "[optional.of(1)].reverse().size() == 1",
        "[optional.of(1)].transformMap(i, v, v).size() == 1",
    ),
)
def test_what_cannot_be_closed_is_not_evaluated(expression):
    scope = ENVIRONMENT.scope(params=False)
    assert ENVIRONMENT.compile(expression, scope).undecidable
    with pytest.raises(NotEvaluated):
        value(expression)


def test_a_function_of_which_only_the_signature_is_known_is_not_evaluated():
    later = CelEnvironment.of("1.37")
    assert "includes()" in later.compile("[1].includes(1)", later.scope(params=False)).undecidable


def test_optionals_cross_variables():
    assert value("variables.a.orValue(7) == 1", a="object.spec.?one") is True
    assert value("variables.b == 1", a="object.spec.?one", b="variables.a.hasValue() ? variables.a.value() : 7") is True
    assert (
        value("variables.later > timestamp('2020-01-01T00:30:00Z')", later="timestamp('2020-01-01T01:00:00Z')") is True
    )


def test_an_optional_is_never_handed_to_a_function():
    with pytest.raises(CelError):
        value("double(object.spec[?'half']) == 0.5")


def test_the_authorizer_is_not_asked():
    for expression in (
        "authorizer.path('/').check('get').allowed()",
        "object.spec.one == 1 && authorizer.requestResource.check('get').allowed()",
        "authorizer.group('').resource('pods').check('get').reason() == ''",
        "authorizer.path('/').check('get').allowed() ? true : true",
        "object.spec.missing || authorizer.path('/').check('get').allowed()",
    ):
        with pytest.raises(NotEvaluated, match="it asks the authorizer"):
            value(expression)
    with pytest.raises(NotEvaluated, match="it asks the authorizer"):
        value("variables.may.allowed()", may="authorizer.path('/').check('get')")


def test_what_is_decided_without_the_authorizer_is_decided():
    asks = "authorizer.path('/').check('get').allowed()"
    assert value(f"object.spec.one == 1 || {asks}") is True
    assert value(f"{asks} && object.spec.one == 2") is False
    assert value("variables.may || true", may=asks) is True
    assert value("[1, 2].exists(x, variables.may || x == 2)", may=asks) is True
