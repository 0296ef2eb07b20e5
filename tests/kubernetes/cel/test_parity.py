"""What comparing with Kubernetes' own evaluator on public policies has shown; each line is what that one answers."""

from __future__ import annotations

import pytest

from poolsmith.kubernetes.cel import Bindings, CelCompileError, CelEnvironment, CelError, NotEvaluated, engine_problem

pytestmark = pytest.mark.skipif(engine_problem() is not None, reason=str(engine_problem()))
ENVIRONMENT = CelEnvironment.of("1.34")
OBJECT = {
    "text": "x",
    "nothing": None,
    "halves": [1.5, 2.5],
    "several": [1.5, "1.2", 3],
    "falling": ["b", "a", 1],
    "empty": [None, 1],
    "map": {"a": 3},
}


def value(expression, **variables):
    scope = ENVIRONMENT.scope(params=False)
    for name, source in variables.items():
        scope = scope.with_variable(name, ENVIRONMENT.compile(source, scope))
    bindings = Bindings(object=OBJECT, old_object=None, request={"operation": "CREATE"})
    return ENVIRONMENT.compile(expression, scope).evaluate(bindings)


@pytest.mark.parametrize(
    ("expression", "expected"),
    (
        ("object.several.isSorted()", True),
        ("object.several.min()", 1.5),
        ("object.several.max()", 3),
        ("object.falling.isSorted()", False),
        ("object.falling.min()", "a"),
    ),
)
def test_elements_of_two_kinds_have_no_order_and_are_passed_over(expression, expected):
    assert value(expression) == expected


@pytest.mark.parametrize("expression", ("object.empty.min()", "object.empty.isSorted()", "object.map.min()"))
def test_what_has_no_order_at_all_is_an_error(expression):
    with pytest.raises(CelError, match="no such overload"):
        value(expression)


def test_the_sum_of_a_list_whose_type_nobody_knows_goes_by_its_elements():
    assert value("object.halves.sum()") == 4.0
    with pytest.raises(CelError, match=r"^no such overload: sum\(map\)$"):
        value("object.map.sum()")


@pytest.mark.parametrize("name", ("first", "last"))
def test_the_first_and_last_of_a_map_are_an_error(name):
    with pytest.raises(CelError, match=rf"^no such overload: {name}\(map\)$"):
        value(f"object.map.{name}().hasValue()")


def test_a_variable_that_fails_is_an_error_for_has_as_well():
    assert value("has(variables.fine)", fine="null") is True
    with pytest.raises(CelError, match="no such key: nobody"):
        value("has(variables.broken)", broken="object.nobody == 1")


@pytest.mark.parametrize("seconds", (-62_135_596_801, 253_402_300_800))
def test_a_time_that_no_timestamp_can_hold_does_not_compile(seconds):
    with pytest.raises(CelCompileError, match="invalid timestamp argument"):
        value(f"timestamp({seconds}) == timestamp(0)")


OPAQUE = ("quantity('1')", "semver('1.2.3')", "ip('10.0.0.1')", "cidr('10.0.0.0/8')", "url('http://a')")


@pytest.mark.parametrize("opaque", OPAQUE)
def test_equality_of_an_opaque_value_with_anything_else(opaque):
    assert value(f"{opaque} == {opaque}") is True
    assert value(f"{opaque} != {opaque}") is False
    assert value(f"{opaque} == object.nothing") is False
    assert value(f"{opaque} != object.nothing") is True
    assert value(f"{opaque} != object.text") is True
    assert value(f"object.text == {opaque}") is False
    with pytest.raises(CelError, match=r"^no such overload$"):
        value(f"{opaque} == object.text")


@pytest.mark.parametrize("key", ("object.nothing", "object.map", "object.halves"))
def test_what_can_not_be_a_key_is_an_error_as_an_optional_index_too(key):
    with pytest.raises(CelError, match="invalid qualifier type"):
        value(f"object.map[?{key}].orValue('x') == 'x'")


@pytest.mark.parametrize(
    ("key", "kind"), (("null", "types.Null"), ("b'a'", "types.Bytes"), ("[1]", "baseList"), ("{}", "baseMap"))
)
@pytest.mark.parametrize("access", ("object.map[{}] == 1", "object.map[?{}].hasValue()"))
def test_a_constant_that_can_not_be_a_key_does_not_compile(access, key, kind):
    with pytest.raises(CelCompileError, match=f"invalid qualifier type: .*{kind}"):
        value(access.replace("{}", key))


def test_whether_a_version_is_read_loosely_has_to_be_a_bool():
    assert value("isSemver('v1.0', true)") is True
    with pytest.raises(CelError, match=r"no such overload: isSemver\(string, string\)"):
        value("isSemver('v1.0', object.text)")


def test_an_optional_inside_a_list_is_never_handed_to_the_engine():
    with pytest.raises(NotEvaluated):
        value("'%s'.format([sets.contains([[1, 2]], [[object.?map.a, 4]])])")
