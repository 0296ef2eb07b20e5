"""Variables, limits, and values that are no plain JSON."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import poolsmith.kubernetes.cel
from poolsmith.kubernetes.cel import (
    Bindings,
    CelCompileError,
    CelEnvironment,
    CelError,
    CompileIssue,
    NotEvaluated,
    engine_problem,
)

needs_engine = pytest.mark.skipif(engine_problem() is not None, reason=str(engine_problem()))
ENVIRONMENT = CelEnvironment.of("1.34")


def bindings(spec=None, **more):
    return Bindings(object={"spec": spec}, old_object=None, request={"operation": "CREATE"}, **more)


def scope_of(variables):
    scope = ENVIRONMENT.scope(params=True)
    for name, source in variables.items():
        scope = scope.with_variable(name, ENVIRONMENT.compile(source, scope))
    return scope


def value(expression, spec=None, *, variables=None, **more):
    return ENVIRONMENT.compile(expression, scope_of(variables or {})).evaluate(bindings(spec, **more))


@needs_engine
def test_a_failing_variable_harms_only_where_it_is_read():
    broken = {"broken": "object.spec.missing"}
    assert value("true", {}, variables=broken) is True
    assert value("true || variables.broken", {}, variables=broken) is True
    assert value("[1].exists(x, variables.broken == x) || true", {}, variables=broken) is True
    with pytest.raises(CelError, match=r'^composited variable "broken" fails to evaluate: no such key: missing$'):
        value("variables.broken == 1", {}, variables=broken)


@needs_engine
def test_a_failing_variable_of_a_variable_is_told_with_both():
    variables = {"a": "object.spec.missing", "b": "variables.a"}
    told = 'composited variable "b" fails to evaluate: composited variable "a" fails to evaluate: no such key: missing'
    with pytest.raises(CelError) as error:
        value("variables.b == 1", {}, variables=variables)
    assert str(error.value) == told


@needs_engine
def test_a_variable_that_does_not_compile_is_an_error_where_it_is_read():
    why = CelCompileError(CompileIssue("undefined field 'x'"))
    scope = ENVIRONMENT.scope(params=False).with_failed_variable("bad", why)
    assert ENVIRONMENT.compile("true || variables.bad", scope).evaluate(bindings()) is True
    with pytest.raises(CelError, match=r'composited variable "bad" fails to compile: .*undefined field'):
        ENVIRONMENT.compile("variables.bad == 1", scope).evaluate(bindings())


@needs_engine
def test_many_variables_that_build_on_each_other_do_not_explode():
    variables = {"v0": "object.spec"}
    for index in range(1, 60):
        variables[f"v{index}"] = f"variables.v{index - 1} + variables.v{index - 1}"
    variables["v59"] = "variables.v20.size()"
    assert value("variables.v59", "ab", variables=variables) == 2 * 2**20


@needs_engine
def test_expressions_deeper_than_the_engine_takes_are_evaluated_in_parts():
    assert value("!(" * 60 + "object.spec.zero == 0" + ")" * 60, {"zero": 0}) is True
    assert value("object.spec.a == 1 ? 'a' : " * 45 + "'b'", {"a": 2}) == "b"
    assert value(" + ".join(["object.spec.text"] * 60), {"text": "x"}) == "x" * 60
    with pytest.raises(CelError, match="no such key"):
        value("!(" * 60 + "object.spec.none == 0" + ")" * 60, {})
    assert value("true || " + "!(" * 60 + "object.spec.none == 0" + ")" * 60, {}) is True


@pytest.mark.parametrize(
    "expression", ("(" * 10_000 + "true" + ")" * 10_000, "!" * 10_001 + "(true", "[" * 10_000, "-" * 5_000)
)
def test_ten_thousand_levels_are_a_compile_error(expression):
    with pytest.raises(CelCompileError):
        ENVIRONMENT.compile(expression, ENVIRONMENT.scope(params=False))


def test_a_long_chain_is_no_deep_tree():
    chain = " || ".join(["object.spec.a == 1"] * 3_000)
    assert ENVIRONMENT.compile(chain, ENVIRONMENT.scope(params=False)).result_type == "bool"


def test_an_expression_beyond_the_size_limit_is_refused():
    with pytest.raises(CelCompileError, match="code point size exceeds limit"):
        ENVIRONMENT.compile("'" + "x" * 100_001 + "'", ENVIRONMENT.scope(params=False))


@needs_engine
def test_more_than_ten_thousand_loop_steps_are_not_evaluated():
    with pytest.raises(NotEvaluated, match="10,000 loop steps"):
        value("object.spec.all(x, x >= 0)", list(range(20_000)))
    with pytest.raises(NotEvaluated, match="10,000 loop steps"):
        value("object.spec.all(a, object.spec.all(b, object.spec.all(c, a + b + c >= 0)))", list(range(60)))


@needs_engine
def test_text_does_not_grow_without_bound():
    with pytest.raises(NotEvaluated, match=r"replace\(\) would make"):
        value("object.spec.replace('', object.spec) == ''", "x" * 5_000)
    with pytest.raises(NotEvaluated, match=r"cost limit|join\(\) would make"):
        value("object.spec.join('') != ''", ["x" * 1_000] * 9_000)
    with pytest.raises(NotEvaluated, match=r"lists_range\(\) would make"):
        value("true || lists.range(1000000000).size() > 0 ? lists.range(1000000).size() > 0 : false")


@needs_engine
def test_a_regular_expression_that_explodes_elsewhere_is_linear():
    assert value("object.spec.matches('(a+)+$')", "a" * 50_000 + "b") is False
    assert value("object.spec.find('(a*)*b$')", "a" * 50_000) == ""


@needs_engine
def test_one_object_serves_many_policies_and_parameters():
    one = bindings({"a": 1}, params={"most": 0})
    compiled = ENVIRONMENT.compile("object.spec.a <= params.most", ENVIRONMENT.scope(params=True))
    assert [compiled.evaluate(each) for each in (one, one.with_params({"most": 1}), one)] == [False, True, False]


@needs_engine
@pytest.mark.parametrize(
    ("spec", "expression", "expected"),
    (
        (2**70, "object.spec > 1.0", True),
        ({1: "x"}, "object.spec['1']", "x"),
        ((1, 2), "object.spec.size()", 2),
        ("\ud800", "object.spec.size() == 1", None),
        (float("nan"), "object.spec == object.spec", False),
        ({-6: ["9", "1"], "scale": 0}, "object.spec.isGreaterThan(quantity('1'))", None),
        ({-4: "x"}, "string(object.spec)", None),
    ),
)
def test_values_that_are_no_plain_json_do_no_harm(spec, expression, expected):
    try:
        assert value(expression, spec) == expected
    except (CelError, NotEvaluated):
        assert expected is None


@needs_engine
def test_a_deep_object_does_no_harm():
    deep = {}
    for _ in range(5_000):
        deep = {"a": deep}
    assert value("has(object.spec.a)", deep) in (True, False)


@needs_engine
def test_no_message_steers_a_terminal():
    hostile = "\x1b[31mred\x07"
    with pytest.raises(CelError) as error:
        value(f"object.spec['{hostile}']", {})
    assert str(error.value) == r"no such key: \x1b[31mred\x07"
    for expression in (f"'{hostile}", f"object.`{hostile}`", f"a {hostile}", f"'%q{hostile}'.format([1])"):
        with pytest.raises(CelCompileError) as refused:
            ENVIRONMENT.compile(expression, ENVIRONMENT.scope(params=False))
        assert all(issue.message.isprintable() for issue in refused.value.messages)


MISSING = """
import sys
sys.modules[{missing!r}] = None
from poolsmith.kubernetes.cel import Bindings, CelEnvironment, NotEvaluated, engine_problem
environment = CelEnvironment.of("1.34")
compiled = environment.compile("object.a == 1", environment.scope(params=False))
assert compiled.result_type == "bool"
assert "pip install --require-hashes -r requirements-run.lock" in engine_problem(), engine_problem()
assert compiled.undecidable == engine_problem()
try:
    compiled.evaluate(Bindings(object={{}}, old_object=None, request={{}}))
except NotEvaluated:
    print("not evaluated")
"""


@pytest.mark.parametrize("missing", ("cel_expr_python", "re2"))
def test_without_an_engine_policies_are_checked_but_not_evaluated(missing):
    done = subprocess.run(
        [sys.executable, "-c", MISSING.format(missing=missing)], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("not evaluated\n", "")


def test_one_module_knows_each_native_library():
    package = Path(poolsmith.kubernetes.cel.__file__).parent
    texts = {path.relative_to(package).as_posix(): path.read_text() for path in package.rglob("*.py")}
    assert {name for name, text in texts.items() if "cel_expr_python" in text} == {"engine.py"}
    assert {name for name, text in texts.items() if '"re2"' in text} == {"engine.py", "go_text.py"}


def test_the_engine_is_imported_only_when_something_is_evaluated():
    code = "import sys, poolsmith.kubernetes.cel; print('cel_expr_python' in sys.modules, 're2' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"
