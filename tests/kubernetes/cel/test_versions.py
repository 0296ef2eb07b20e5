"""What CEL has in each Kubernetes minor, and nothing more."""

from __future__ import annotations

import pytest

from poolsmith.kubernetes.cel import CelCompileError, CelEnvironment, UnknownKubernetes
from poolsmith.kubernetes.cel.environment import _compiled_before

SINCE = {
    "url('https://a/b').getHost() == 'a'": 23,
    "isURL('a')": 23,
    "'abc'.find('b') == 'b'": 23,
    "'abc'.findAll('b').size() == 1": 23,
    "[1, 2].sum() == 3": 23,
    "[1, 2].min() == 1": 23,
    "[1, 2].max() == 2": 23,
    "[1, 2].isSorted()": 23,
    "[1, 2].indexOf(2) == 1": 23,
    "[1, 2].lastIndexOf(2) == 1": 23,
    "'a,b'.split(',').join('-') == 'a-b'": 23,
    "'abc'.substring(1).upperAscii().charAt(0) == 'B'": 23,
    "' a'.trim().replace('a', 'b').indexOf('b') == 0": 23,
    "authorizer.group('').resource('pods').check('get').allowed()": 27,
    "authorizer.path('/healthz').check('get').allowed()": 27,
    "authorizer.requestResource.check('get').allowed()": 27,
    "object.?spec.?a.hasValue()": 28,
    "object[?'a'].hasValue()": 28,
    "optional.of(1).hasValue()": 28,
    "object.?a.optMap(x, x).hasValue()": 28,
    "1 < 1.5": 28,
    "1u < 2": 28,
    "quantity('1').isGreaterThan(quantity('1m'))": 28,
    "isQuantity('1')": 28,
    "sign(quantity('1')) == 1": 28,
    "namespaceObject == null": 28,
    "object.?a.optFlatMap(x, optional.of(x)).hasValue()": 29,
    "'%s'.format(['a']) == 'a'": 29,
    "strings.quote('a') == 'a'": 29,
    "sets.contains([1], [1])": 29,
    "sets.equivalent([1], [1])": 29,
    "sets.intersects([1], [1])": 29,
    "ip('::1').isLoopback()": 30,
    "isIP('::1')": 30,
    "ip.isCanonical('::1')": 30,
    "cidr('10.0.0.0/8').containsIP('10.0.0.1')": 30,
    "isCIDR('10.0.0.0/8')": 30,
    "format.dns1123Label().validate('a').hasValue()": 31,
    "format.named('uuid').hasValue()": 31,
    "authorizer.group('').resource('pods').labelSelector('a=b').check('get').allowed()": 31,
    "authorizer.group('').resource('pods').fieldSelector('a=b').check('get').allowed()": 31,
    "[1].all(i, v, v > i)": 32,
    "[1].exists(i, v, v > i)": 32,
    "[1].existsOne(i, v, v > i)": 32,
    "[1].transformList(i, v, v).size() == 1": 32,
    "{'a': 1}.transformMap(k, v, v).size() == 1": 32,
    "{'a': 'b'}.transformMapEntry(k, v, {v: k}).size() == 1": 32,
    "semver('1.2.3').major() == 1": 33,
    "isSemver('v1.2', true)": 33,
    "[optional.of(1)].unwrapOpt().size() == 1": 33,
    "[1, 2].slice(0, 1).size() == 1": 34,
    "[[1]].flatten().size() == 1": 34,
    "[2, 1].sort() == [1, 2]": 34,
    "[2, 1].sortBy(x, x) == [1, 2]": 34,
    "[1, 1].distinct().size() == 1": 34,
    "[1, 2].reverse() == [2, 1]": 34,
    "lists.range(2) == [0, 1]": 34,
    "[1].first().hasValue()": 34,
    "[1].last().hasValue()": 34,
    "[1].includes(1)": 37,
}
NOWHERE = (
    "math.greatest(1, 2) == 2",
    "base64.encode(b'a') == 'YQ=='",
    "cel.bind(x, 1, x == 1)",
    "object.`a` == 1",
    "object.metadata.labels.`a/b` == 'c'",
    "'abc'.reverse() == 'cba'",
    "regex.replace('a', 'b', 'c') == 'a'",
    "jsonpatch.escapeKey('a/b') == 'a~1b'",
    "strings.reverse('a') == 'a'",
    "Object{spec: 1} == 1",
    "quantity('1').sign() == 1",
    "object.spec.replicas.foo()",
)


def accepts(minor, expression):
    environment = CelEnvironment.of(f"1.{minor}")
    try:
        environment.compile(expression, environment.scope(params=False))
    except CelCompileError:
        return False
    return True


@pytest.mark.parametrize(("expression", "since"), SINCE.items())
def test_each_function_is_there_from_its_minor_on_and_not_before(expression, since):
    assert [minor for minor in range(23, 38) if accepts(minor, expression)] == list(range(since, 38))


@pytest.mark.parametrize(("expression", "since"), SINCE.items())
def test_needs_is_the_lowest_minor_that_has_all_that_is_used(expression, since):
    environment = CelEnvironment.of("1.37")
    assert environment.compile(expression, environment.scope(params=False)).needs == f"1.{since}"


@pytest.mark.parametrize("expression", NOWHERE)
def test_what_no_api_server_has_is_refused_at_every_minor(expression):
    assert not any(accepts(minor, expression) for minor in range(23, 38))


def test_a_refused_function_names_the_minor_that_has_it():
    environment = CelEnvironment.of("1.29")
    with pytest.raises(
        CelCompileError, match=r"undeclared reference to 'isIP'.*Kubernetes 1\.30 brought it.* from 1\.31 on"
    ):
        environment.compile("isIP('::1')", environment.scope(params=False))


def test_needs_counts_what_variables_use():
    environment = CelEnvironment.of("1.34")
    scope = environment.scope(params=False)
    scope = scope.with_variable("local", environment.compile("isIP('::1')", scope))
    assert environment.compile("variables.local", scope).needs == "1.30"


@pytest.mark.parametrize("version", ("1.34", "v1.34.2", "1.34.0-rc.1"))
def test_a_version_is_known_by_its_minor(version):
    assert CelEnvironment.of(version) is CelEnvironment.of("1.34")


@pytest.mark.parametrize("version", ("1.22", "1.38", "2.0", "", "x", "1", "1.x", "1.34\x1b[31m"))
def test_an_unknown_version_is_refused(version):
    with pytest.raises(UnknownKubernetes):
        CelEnvironment.of(version)


@pytest.mark.parametrize("expression", sorted(SINCE))
def test_what_minors_share_is_what_each_would_compile_itself(expression):
    minors = range(23, 38)
    for order in (minors, reversed(minors)):
        _compiled_before.cache_clear()
        for minor in order:
            environment = CelEnvironment.of(f"1.{minor}")
            scope = environment.scope(params=True)

            assert _told(environment.compile, expression, scope) == _told(environment._compile, expression, scope)


def _told(compiling, expression, scope):
    try:
        found = compiling(expression, scope)
    except CelCompileError as error:
        return str(error)
    compiled = found[1] if isinstance(found, tuple) else found
    return compiled.result_type, compiled.names, compiled.needs, repr(compiled.part)
