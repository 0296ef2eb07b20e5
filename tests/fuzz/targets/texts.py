"""Readers of one text: YAML, CEL, privileges, patterns, locks, versions, templates, `--set`."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

from fuzz.target import Target
from poolsmith.core.sources import pointer as pointers
from poolsmith.core.sources.yaml_places import StreamPlaces
from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents
from poolsmith.core.sources.yaml_writer import emit_all
from poolsmith.fleet.operands.kube import OperatorError
from poolsmith.fleet.operands.node_files import parse_os_release
from poolsmith.fleet.operands.operand_containers import image_path
from poolsmith.gpu.catalog.releases import behaviour_at
from poolsmith.gpu.drivers.driver_image import (
    UnreadableVersionError,
    branch_of,
    built_for,
    is_branch,
    is_full,
    is_version,
    os_tag,
)
from poolsmith.gpu.importing.template_references import references_in
from poolsmith.guard.ledger.grants.grant import last_day_of, parse_privileges, repository_of, written_privileges
from poolsmith.guard.ledger.grants.matching import glob_matches, pool_matches, workload_matches
from poolsmith.guard.ledger.privilege import Privilege, PrivilegeError, normal_path
from poolsmith.kubernetes.cel import CelCompileError, CelEnvironment
from poolsmith.kubernetes.cel.compiled import unparse
from poolsmith.kubernetes.cel.parser import parse
from poolsmith.kubernetes.helm.set_flag import SetError, apply_set
from poolsmith.kubernetes.quantity import canonical_quantity, quantity_amount
from poolsmith.project.output.lock_file import BadLockError, read_lock

ROOT = Path(__file__).resolve().parents[3]
RELEASES = ("v24.9.2", "v25.10.1", "v26.7.0")
MINORS = ("1.28", "1.30", "1.34", "1.37")


def text_of(data):
    return data.decode("utf-8", "surrogateescape")


def canonical(value):
    return json.dumps(value, sort_keys=False, default=repr)


def yaml(data):
    """What is read is written and read again; each place in it is found."""
    text = text_of(data)
    found = read_documents(text)
    assert read_documents(emit_all(found)) == found or _strange(found)
    places = StreamPlaces("x.yaml", text)
    for index, document in enumerate(found):
        for pointer in _some_pointers(document):
            located = places.locate(index, pointer)
            assert located.span.start.line >= 1
    collected = []
    assert read_documents(text, collected) == found
    assert collected == []
    return canonical(found)


def _strange(found):
    """Numbers beyond 64 bits become floats when they are read."""
    flat = [found]
    while flat:
        one = flat.pop()
        if isinstance(one, dict):
            flat.extend(one.values())
        elif isinstance(one, list):
            flat.extend(one)
        elif isinstance(one, int | float) and (not math.isfinite(one) or abs(one) >= 2**63):
            return True
    return False


def _some_pointers(node, pointer="", left=40):
    if left <= 0:
        return
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in list(items)[:10]:
        below = pointers.join(pointer, key)
        yield below
        yield from _some_pointers(value, below, left // 4)


def cel(data):
    """Compiled for some minors, or refused; what the parser reads is written and read again as the same."""
    text = data.decode("utf-8", "surrogateescape")
    tree = parse(text)
    again = unparse(tree)
    assert unparse(parse(again)) == again or "1.0/0.0" in again  # an infinite number has no literal
    said = []
    for minor in MINORS:
        environment = CelEnvironment.of(minor)
        try:
            compiled = environment.compile(text, environment.scope(params=True))
            said.append(f"{compiled.type} {sorted(compiled.names)} {compiled.needs}")
        except CelCompileError as error:
            said.append(_told(error))
    return "\n".join(said)


def _told(error):
    """Every issue has a place and can be printed."""
    assert error.messages
    assert all(issue.line >= 1 and issue.column >= 1 and issue.message.isprintable() for issue in error.messages)
    return str(error)


def privilege(data):
    """A token, or an entry of a grant: one text for one privilege."""
    text = text_of(data)
    found = parse_privileges(text)
    for one in found:
        assert Privilege.parse(str(one)) == one
    assert [item for text in written_privileges(found) for item in parse_privileges(text)] == sorted(set(found))
    return " ".join(map(str, found))


def patterns(data):
    """A pattern and a text, one a line: of grants, waivers and settings."""
    pattern, _, rest = text_of(data).partition("\n")
    answers = (glob_matches(pattern, rest), workload_matches(pattern, rest), pool_matches(pattern, rest))
    expected = (
        re.fullmatch(_as_expression(pattern), rest, re.DOTALL) if pattern.count("*") < 4 and len(rest) < 60 else None
    )
    if expected is not None:
        assert answers[0]
    assert glob_matches("*", rest)
    return repr(answers)


def _as_expression(pattern):
    return "".join({"*": ".*", "?": "."}.get(one, re.escape(one)) for one in pattern)


def lock(data):
    return canonical(read_lock(data).files)


def versions(data):
    """Versions, tags and images of drivers; quantities and days; paths; what /etc/os-release says."""
    text = text_of(data)
    first, _, second = text.partition("\n")
    assert is_branch(first) <= is_version(first)
    assert is_full(first) <= is_version(first)
    said = [branch_of(first), last_day_of(first), repository_of(first), normal_path(first), parse_os_release(text)]
    assert normal_path(normal_path(first)) == normal_path(first)
    assert repository_of(repository_of(first)).count("/") == repository_of(first).count("/")
    for release in RELEASES:
        assert behaviour_at(release)
        for system in ("ubuntu", "rhel", "rocky", "sles", first):
            try:
                said.append(built_for(first, os_tag(system, second, release), second))
            except UnreadableVersionError as error:
                said.append(error.explanation)
    try:
        said.append(image_path({"repository": first, "image": second, "version": first}, "X"))
    except OperatorError as error:
        said.append(str(error))
    return repr(said)


def quantity(data):
    """A quantity has one way of being written, which says the same amount."""
    canonical_text = canonical_quantity(text_of(data))
    assert canonical_quantity(canonical_text) == canonical_text
    return f"{canonical_text} {quantity_amount(text_of(data))}"


def template_text(data):
    """A chart's template."""
    found = references_in(text_of(data))
    assert found.writes.keys() <= found.read
    return repr(sorted(found.read))


def set_flag(data):
    """One `--set`."""
    values = {"a": {"b": [1]}, "driver": {"enabled": True}}
    apply_set(values, text_of(data))
    return canonical(values)


def fleet_files():
    """What this repository itself has committed, and the examples of rules."""
    found = [*ROOT.glob("profiles/*/*.yaml"), *ROOT.glob("policies/**/*.yaml")]
    found += (
        sorted(ROOT.glob("tests/guard/rules/examples/*/*/*.yaml"))[::9]
        + sorted(ROOT.glob("output/clusters/*/platform/*.yaml"))[:6]
    )
    return [data for path in sorted(found) if len(data := path.read_bytes()) < 12_000]


def yaml_seeds():
    return [
        *fleet_files(),
        b"a: &a {b: 1}\nc: {<<: *a, d: 2}\n---\n- *a\n"[:-5] + b"\n",
        b"k: !!binary aGk=\n\"q\": 'it''s'\nn: 0x1F\nf: 1.5e3\nt: |-\n  a\n   b\nu: >+\n  x\n\n",
        b"? a\n: b\n? |\n  x\n: - 1\n  - [a, {b: c}]\n",
    ]


def cel_seeds():
    recorded = json.loads((ROOT / "tests/kubernetes/cel/recorded/expressions.json").read_text("utf-8"))
    seeds = [case["expression"] for case in recorded["cases"]]
    for path in sorted((ROOT / "policies/admission").glob("*.yaml")):
        seeds += re.findall(r"expression: (?:>-\n)?\s*(.+)", path.read_text("utf-8"))
    return [text.encode() for text in seeds[:: max(1, len(seeds) // 400)]] + [
        b"r'''a\\'''+b\"\\x00\" == b'' && 0x1Fu in [1u]"
    ]


def privilege_seeds():
    tokens = set()
    for path in sorted((ROOT / "policies/privileges").glob("*.yaml")):
        tokens |= set(re.findall(r"- \"?([a-z][\w-]*(?::[^\s\"]+)?)\"?$", path.read_text("utf-8"), re.MULTILINE))
    return [text.encode() for text in sorted(tokens)] + [
        b"rbac:core/pods:get,list@ns/a#n",
        b"rbac:nonResourceURLs//a%2Fb:get@cluster",
    ]


def some(*texts):
    return lambda: [text.encode() for text in texts]


def lock_seeds():
    return [path.read_bytes()[:6000] for path in sorted(ROOT.glob("output/clusters/*/poolsmith.lock.json"))] + [
        b'{"version": 1, "files": {"a": "sha256:b"}}'
    ]


TARGETS = (
    Target("yaml", yaml_seeds, yaml, (YamlProblem,)),
    Target("cel", cel_seeds, cel, (CelCompileError,), structures="cel", most_bytes=4 << 10, seconds=4),
    Target("privilege", privilege_seeds, privilege, (PrivilegeError,), structures="text"),
    Target(
        "patterns",
        some("*a?b*\nxxab", "Daemon*/nvidia-*\nDaemonSet/nvidia-driver", "**\n", "a*b*c*d\nabcd"),
        patterns,
        structures="text",
        most_bytes=4 << 10,
    ),
    Target("lock", lock_seeds, lock, (BadLockError,), structures="text"),
    Target(
        "versions",
        some(
            "580.126.20\n22.04",
            "nvcr.io/nvidia/driver:580@sha256:abc\nv9.4",
            '2026-11-20\nID=rhel\nVERSION_ID="9.4"\n',
            "/a/../b\n10",
        ),
        versions,
        structures="text",
    ),
    Target(
        "quantity",
        some("1", "500m", "1.5Gi", "1e3", "-2Ki", "0x1", "1E", "1e+3"),
        quantity,
        (ValueError,),
        structures="text",
    ),
    Target(
        "template-text",
        some(
            "kind: A\nspec:\n  {{- if .Values.a.b }}\n  c: {{ .Values.a.b | quote }}\n  {{- end }}\n",
            '{{ with $.Values.x }}\na: {{ .y }}\n{{ end }}{{/* c */}}{{ index .Values "a-b" "c" }}',
        ),
        template_text,
        structures="text",
    ),
    Target(
        "set-flag",
        some("driver.version=580", "a.b[0]=1,c={x,y}", "a\\.b.c=null", "x[3].y=true", "a={b,c=d}"),
        set_flag,
        (SetError,),
        structures="text",
        most_bytes=8 << 10,
    ),
)
