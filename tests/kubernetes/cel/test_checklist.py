"""CEL as a policy meets it in the API server: what each minor brings, and answers where engines differ.

Where the facts stand that are asked here only in part:

| facts | module |
| --- | --- |
| each function, operator and macro by its minor; what no API server has | test_versions |
| types of results, and what does not compile | test_static_checks |
| variables; depth, steps and sizes; values that are no JSON; no engine at all | test_evaluation |
| gaps of the engine that are closed, and those that are not evaluated; the authorizer | test_gaps |
| elements of two kinds, opaque values, keys, `sum`, `first` and `last` of what is no list | test_parity |
| 1,500 expressions with the answers of Kubernetes' own evaluator, in several minors | test_recorded |
| whole policies | ../admission/test_checklist |
"""

from __future__ import annotations

import contextlib

import pytest

from poolsmith.kubernetes.cel import Bindings, CelCompileError, CelEnvironment, CelError, NotEvaluated, engine_problem

needs_engine = pytest.mark.skipif(engine_problem() is not None, reason=str(engine_problem()))
OBJECT = {"one": 1, "nothing": None, "text": "a", "list": [1, 2], "map": {"k": "v"}}


def compiled(expression, minor="1.34", **scope):
    environment = CelEnvironment.of(minor)
    return environment.compile(expression, environment.scope(**{"params": False} | scope))


def value(expression, minor="1.34"):
    return compiled(expression, minor).evaluate(Bindings(object=OBJECT, old_object=None, request={}))


def refused(expression, minor="1.34", **scope):
    try:
        compiled(expression, minor, **scope)
    except CelCompileError:
        return True
    return False


# Each line: the minor that brings it, and one expression for each thing that it brings.
BROUGHT = {
    23: (
        "url('https://a/b').getHost() == 'a'",
        "'abc'.find('b') == 'b'",
        "[1, 2].sum() == 3",
        "'a'.upperAscii() == 'A'",
    ),
    27: ("authorizer.path('/').check('get').allowed()",),
    28: ("object.?one.hasValue()", "object.one < 1.5 && 1 < 1.5", "quantity('1').isInteger()"),
    29: ("'%d'.format([1]) == '1'", "strings.quote('a') == 'a'", "sets.contains([1], [1])"),
    30: ("isIP('10.0.0.1')", "isCIDR('10.0.0.0/8')"),
    31: ("format.named('uuid').hasValue()", "authorizer.group('').resource('pods').fieldSelector('a=b') == null"),
    32: ("[1].all(index, item, item > index)",),
    33: ("isSemver('1.2.3')",),
    34: (
        "[1, 2].slice(0, 1) == [1]",
        "[[1]].flatten() == [1]",
        "[2, 1].sort() == [1, 2]",
        "[2, 1].sortBy(item, item) == [1, 2]",
        "[1, 1].distinct() == [1]",
        "lists.range(1) == [0]",
        "[1, 2].reverse() == [2, 1]",
        "[1].first().hasValue()",
        "[1].last().hasValue()",
    ),
    37: ("[1].includes(1)",),
}


@pytest.mark.parametrize(("minor", "expression"), [(minor, text) for minor, texts in BROUGHT.items() for text in texts])
def test_what_a_minor_brings_the_one_before_does_not_have(minor, expression):
    assert not refused(expression, f"1.{minor}")
    assert minor == 23 or refused(expression, f"1.{minor - 1}")


class TestFromTheFirstMinorOn:
    FIRST = "1.23"

    @pytest.mark.parametrize("literal", ["[1, 'a'] == []", "{'a': 1, 'b': 'c'} == {}", "{'a': 1, 2: 3} == {}"])
    def test_lists_and_maps_hold_one_type(self, literal):
        assert refused(literal, self.FIRST)

    @needs_engine
    def test_hours_are_those_of_utc(self):
        assert value("timestamp('2020-01-01T10:00:00+02:00').getHours()", self.FIRST) == 8

    def test_text_has_no_later_functions(self):
        assert refused("'abc'.reverse() == 'cba'", self.FIRST)
        assert refused("'%d'.format([1]) == '1'", self.FIRST)

    @pytest.mark.parametrize("minor", [FIRST, "1.28", "1.29", "1.34"])
    @pytest.mark.parametrize(
        "literal",
        ["'a'.matches('(')", "'a'.find('(') == ''", "duration('1d') == null", "timestamp('noon') == null"],
    )
    def test_literals_that_can_never_be_read_do_not_compile(self, minor, literal):
        """From 1.29 on a check of its own tells it; before, what is constant is computed when it is compiled."""
        assert refused(literal, minor)


class TestNeverMoreThanTheClusterHas:
    @pytest.mark.parametrize("minor", ["1.30", "1.34", "1.37"])
    @pytest.mark.parametrize(
        "expression",
        [
            "math.greatest(1, 2) == 2",
            "base64.encode(b'a') == ''",
            "cel.bind(a, 1, a == 1)",
            "object.`text` == 'a'",
            "'abc'.reverse() == 'cba'",
            "quantity('1').sign() == 1",
        ],
    )
    def test_extensions_of_the_language_that_no_api_server_has(self, minor, expression):
        assert refused(expression, minor)

    @needs_engine
    def test_the_sign_of_a_quantity_is_a_plain_function(self):
        assert value("sign(quantity('-1'))") == -1

    def test_a_message_has_no_authorizer(self):
        asks = "authorizer.path('/').check('get').reason()"

        assert refused(asks, authorizer=False)
        assert not refused(asks)

    def test_a_policy_can_say_the_least_minor_that_it_needs(self):
        assert compiled("isIP(object.text) && quantity('1').isInteger()", "1.37").needs == "1.30"


@needs_engine
class TestWhereEnginesDiffer:
    @pytest.mark.parametrize("expression", ["object.one.orValue(7)", "object.?one.orValue(7)"])
    def test_or_value_of_a_plain_value_is_the_value(self, expression):
        assert value(expression) == 1

    @pytest.mark.parametrize(
        "expression", ["has(object.nothing.x)", "object.nothing.?x.hasValue()", "has(oldObject.x)"]
    )
    def test_a_field_of_null_is_absent(self, expression):
        assert value(expression) is False

    def test_and_reading_it_is_an_error(self):
        with pytest.raises(CelError, match=r"^no such key: x$"):
            value("object.nothing.x")

    @pytest.mark.parametrize(
        ("expression", "expected"),
        [
            ("object.list.transformList(i, item, i + item)", [1, 3]),
            ("object.map.transformMap(k, v, k + v)", {"k": "kv"}),
            ("object.map.transformMapEntry(k, v, {v: k})", {"v": "k"}),
        ],
    )
    def test_maps_and_lists_are_transformed(self, expression, expected):
        assert value(expression) == expected

    @pytest.mark.parametrize(
        "expression", ["size(object.list) < 2.5", "object.one == 1.0", "2.5 > size('ab')", "1u < 2"]
    )
    def test_numbers_of_two_types_are_compared(self, expression):
        assert value(expression) is True

    @pytest.mark.parametrize(
        ("expression", "expected"),
        [
            ("'%s'.format([['a', 'b']])", '["a", "b"]'),
            ("'%s'.format([{'k': 1}])", '{"k":1}'),
            ("'%e'.format([1234.5])", "1.234500\u00d710\u2070\u00b3"),
        ],
    )
    def test_lists_maps_and_exponents_are_printed_as_the_api_server_does(self, expression, expected):
        assert value(expression) == expected

    def test_one_failing_element_is_absorbed_by_one_that_decides(self):
        assert value("[0, 1].exists(item, 1 / item == 1)") is True
        assert value("[0, 1].all(item, 1 / item == 2)") is False

    def test_more_than_ten_thousand_steps_are_not_evaluated(self):
        bindings = Bindings(object={"list": [0] * 20_000}, old_object=None, request={})

        with pytest.raises(NotEvaluated, match="10,000 loop steps"):
            compiled("object.list.all(item, item == 0)").evaluate(bindings)

    @pytest.mark.parametrize("odd", [(1, 2), {1, 2}, 2**64, -(2**70), object()])
    def test_data_that_is_no_json_is_not_taken_for_equal(self, odd):
        bindings = Bindings(object={"odd": odd}, old_object=None, request={})

        with contextlib.suppress(CelError, NotEvaluated):
            assert compiled("object.odd == 1").evaluate(bindings) is False
