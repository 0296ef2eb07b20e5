"""What the API server refuses when a policy is created."""

from __future__ import annotations

import pytest

from poolsmith.kubernetes.cel import CelCompileError, CelEnvironment

ENVIRONMENT = CelEnvironment.of("1.34")


def compiled(expression, *, params=False, authorizer=True, **variables):
    scope = ENVIRONMENT.scope(params=params, authorizer=authorizer)
    for name, source in variables.items():
        scope = scope.with_variable(name, ENVIRONMENT.compile(source, scope))
    return ENVIRONMENT.compile(expression, scope)


def refused(expression, **more):
    with pytest.raises(CelCompileError) as error:
        compiled(expression, **more)
    return [issue.message for issue in error.value.messages]


@pytest.mark.parametrize(
    ("expression", "kind"),
    (
        ("object.spec.hostNetwork", "dyn"),
        ("object.spec.hostNetwork == true", "bool"),
        ("has(object.spec.a) ? object.spec.a : null", "dyn"),
        ("has(object.spec.a) ? 'x' : 'y'", "string"),
        ("null", "null_type"),
        ("'a'.split(',')", "list(string)"),
        ("{'a': 1}", "map(string, int)"),
        ("object.?a", "optional_type(dyn)"),
        ("duration('1s')", "google.protobuf.Duration"),
        ("quantity('1')", "kubernetes.Quantity"),
        ("request.kind", "kubernetes.GroupVersionKind"),
        ("[]", "list(dyn)"),
    ),
)
def test_the_result_type_is_told_so_that_dyn_can_be_refused(expression, kind):
    assert compiled(expression).result_type == kind


@pytest.mark.parametrize(
    ("expression", "message"),
    (
        ("[1, 'a']", "expected type 'int' but found 'string'"),
        ("[1, 2.0]", "expected type 'int' but found 'double'"),
        ("['a', object.x]", "expected type 'string' but found 'dyn'"),
        ("{'a': 1, 'b': 'c'}", "expected type 'int' but found 'string'"),
        ("object.x in ['a', 1]", "expected type 'string' but found 'int'"),
        ("request.object", "undefined field 'object'"),
        ("request.userInfo.name", "undefined field 'name'"),
        ("namespaceObject.metadata.managedFields", "undefined field 'managedFields'"),
        ("params.x", "undeclared reference to 'params' (in container '')"),
        ("variables.x", "undefined field 'x'"),
        ("nothing", "undeclared reference to 'nothing' (in container '')"),
        ("1 + 1.0", "found no matching overload for '_+_' applied to '(int, double)'"),
        ("'a'.startsWith(1)", "found no matching overload for 'startsWith' applied to 'string.(int)'"),
        ("request.dryRun == 'x'", "found no matching overload for '_==_' applied to '(bool, string)'"),
        ("true ? 1 : 'a'", "found no matching overload for '_?_:_' applied to '(bool, int, string)'"),
        ("'abc'.matches('(')", "invalid matches argument"),
        ("duration('1d') < duration('1h')", "invalid duration argument"),
        ("timestamp('2020-13-01T00:00:00Z') == null", "invalid timestamp argument"),
        ("has(object)", "invalid argument to has() macro"),
        ("[1].all(a.b, true)", "argument must be a simple name"),
        ("[1].all(x, 1)", "expected type 'bool' but found 'int'"),
        (
            "'a'.all(x, true)",
            "expression of type 'string' cannot be range of a comprehension (must be list, map, or dynamic)",
        ),
        (
            "'%d'.format(['a'])",
            "error during formatting: decimal clause can only be used on integers, was given string",
        ),
        ("'%s'.format([])", "index 0 out of range"),
        ("'%s'.format(['a', 'b'])", "too many arguments supplied to string.format (expected 1, got 2)"),
    ),
)
def test_static_errors_have_the_words_of_the_api_server(expression, message):
    assert refused(expression) == [message]


def test_format_may_mix_types():
    assert compiled("'%s %d'.format(['a', 1])").result_type == "string"


def test_params_exist_only_with_a_param_kind():
    assert compiled("params.x == 1", params=True).names == {"params"}


def test_a_message_has_no_authorizer():
    assert refused("authorizer.path('/').check('get').reason()", authorizer=False) == [
        "undeclared reference to 'authorizer' (in container '')"
    ]


def test_a_variable_is_seen_with_its_type_and_only_by_later_ones():
    assert refused("variables.n + 'a'", n="1") == ["found no matching overload for '_+_' applied to '(int, string)'"]
    assert compiled("variables.n + 1 == 2", n="1").result_type == "bool"
    assert compiled("variables.q", q="quantity('1')").result_type == "dyn"
    assert refused("true", first="variables.second", second="1") == ["undefined field 'second'"]


def test_names_are_told_through_variables():
    assert compiled("variables.b == 1", a="object.x", b="variables.a").names == {"variables", "object"}
    assert compiled("request.name == oldObject.metadata.name").names == {"request", "oldObject"}
    assert compiled("[1].all(object, object == 1)").names == frozenset()


def test_every_issue_has_its_place():
    with pytest.raises(CelCompileError) as error:
        compiled("true &&\n  request.foo && nothing")
    assert [(one.line, one.column) for one in error.value.messages] == [(2, 10), (2, 18)]


@pytest.mark.parametrize(
    "expression",
    (
        "",
        "a b",
        "(1",
        "'abc",
        "1 +",
        "a.in",
        "for",
        "a..b",
        "'\\q'",
        "9223372036854775808",
        "1 ? 2",
        "{1}",
        "\x00",
        "a\u0301",
    ),
)
def test_what_is_no_cel_is_refused(expression):
    assert refused(expression)
