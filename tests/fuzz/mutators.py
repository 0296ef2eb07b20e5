"""Inputs from inputs: bytes, tokens, lines and structures changed at random, from a generator with a seed."""

from __future__ import annotations

import base64
import contextlib
import copy
import json
import re

import yaml

from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents

TOKEN = re.compile(rb"\w+|\s+|[^\w\s]")
WORDS = (
    b"",
    b"null",
    b"~",
    b"true",
    b"no",
    b"0",
    b"-1",
    b"1e999",
    b".inf",
    b".nan",
    b"0x7fffffffffffffff",
    b"99999999999999999999999",
    b"18446744073709551616",
    b"1_000",
    b"0o17",
    b"12:30:45",
    b"2026-11-20",
    b"2026-02-30",
    b"0000-00-00",
    b"<<",
    b"&a",
    b"*a",
    b"*b",
    b"!!binary",
    b"!!int",
    b"!x",
    b"---",
    b"...",
    b"--- |",
    b"? ",
    b"|",
    b">-",
    b"|2+",
    b"- - - ",
    b"#",
    b": ",
    b"{",
    b"}",
    b"[",
    b"]",
    b"'",
    b'"',
    b"\\",
    b"\t",
    b"\r",
    b"\r\n",
    b"\n",
    b"\x00",
    b"\x1b[31m",
    b"\x7f",
    b"\xc2\x85",
    b"\xe2\x80\xa8",
    b"\xe2\x80\xae",
    b"\xef\xbb\xbf",
    b"\xed\xa0\x80",
    b"\xf0\x9f\x92\xa5",
    b"\xff",
    b"%",
    b"%%3A",
    b":",
    b"::error::",
    b"##[error]",
    b"@",
    b"/",
    b"..",
    b"../../etc",
    b"~0~1",
    b"*",
    b"?",
    b"**",
    b"sha256:",
    b"${{ a }}",
    b"{{ .Values.a }}",
    b"$(A)",
    b"x" * 300,
    b"9" * 5000,
)
VALUES = (
    None,
    True,
    False,
    0,
    -1,
    1,
    2**31,
    2**63,
    2**64,
    10**30,
    0.5,
    -0.0,
    1e308,
    "",
    " ",
    "a",
    "*",
    "null",
    "1.34",
    "v26.3.3",
    "580",
    "a\nb: c",
    "9" * 5000,
    "2026-02-30",
    "::error::x",
    "---\na: b",
    "#",
    "{{",
    "\x00",
    "\u202e",
    "\ud800",
    "é" * 70,
    "/" * 300,
    [],
    {},
    [[]],
    [None],
    [{}],
    {"": ""},
    {"a": None},
    {"a": {"b": {"c": 1}}},
)
_GONE = object()
SPLIT = re.compile(rb"(?<=\n)")


def mutated(random, data, others, most_bytes, structures):
    """Another input near `data`; `others` are inputs to borrow from."""
    for _ in range(random.choice((1, 1, 2, 3, 6))):
        way = random.choice(WAYS[structures])
        data = way(random, data, others)
    return data[:most_bytes]


def _span(random, size):
    start = random.randint(0, size)
    length = min(size - start, int(random.expovariate(1 / 12)) + 1)
    return start, start + length


def flip(random, data, others):
    if not data:
        return random.choice(WORDS)
    at = random.randrange(len(data))
    return data[:at] + bytes((random.randrange(256),)) + data[at + 1 :]


def cut(random, data, others):
    start, end = _span(random, len(data))
    return data[:start] + data[end:]


def repeat(random, data, others):
    start, end = _span(random, len(data))
    return data[:end] + data[start:end] * random.choice((1, 2, 9, 200)) + data[end:]


def insert(random, data, others):
    at = random.randint(0, len(data))
    return data[:at] + random.choice(WORDS) + data[at:]


def splice(random, data, others):
    other = random.choice(others)
    start, end = _span(random, len(other))
    at, _ = _span(random, len(data))
    return data[:at] + other[start:end] + data[at:]


def cross(random, data, others):
    other = random.choice(others)
    return data[: random.randint(0, len(data))] + other[random.randint(0, len(other)) :]


def token(random, data, others):
    """One token becomes another: a known one, or one of another input."""
    tokens = TOKEN.findall(data)
    if not tokens:
        return random.choice(WORDS)
    at = random.randrange(len(tokens))
    pool = TOKEN.findall(random.choice(others))
    tokens[at] = random.choice(WORDS) if not pool or random.random() < 0.5 else random.choice(pool)
    return b"".join(tokens)


def lines(random, data, others):
    """Lines swapped, dropped, doubled, indented, or taken from another input."""
    parts = SPLIT.split(data)
    at, other = random.randrange(len(parts)), random.randrange(len(parts))
    match random.randrange(5):
        case 0:
            parts[at], parts[other] = parts[other], parts[at]
        case 1:
            del parts[at]
        case 2:
            parts.insert(other, parts[at])
        case 3:
            parts[at] = b" " * random.choice((1, 2, 4)) + parts[at] if random.random() < 0.5 else parts[at].lstrip()
        case 4:
            parts.insert(at, random.choice(SPLIT.split(random.choice(others))))
    return b"".join(parts)


def documents(data):
    try:
        return read_documents(data.decode("utf-8"))
    except (YamlProblem, UnicodeError):
        return None


def _places(node):
    """Every container with every key or index in it."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        for key in list(one) if isinstance(one, dict) else range(len(one)):
            yield one, key
            if isinstance(one[key], dict | list):
                waiting.append(one[key])


def structure(random, data, others):
    """A node of the tree becomes another, moves, gets another name, goes, comes twice, or is wrapped."""
    tree = documents(data)
    places = list(_places(tree)) if tree else []
    if not places:
        return token(random, data, others)
    for _ in range(random.choice((1, 1, 2, 4))):
        holder, key = random.choice(places)
        if (isinstance(holder, list) and key >= len(holder)) or (isinstance(holder, dict) and key not in holder):
            continue
        match random.randrange(8):
            case 0 | 1:
                holder[key] = copy.deepcopy(random.choice(VALUES))
            case 2:
                del holder[key]
            case 3:
                donor, name = random.choice(places)
                with_it = donor[name] if (isinstance(donor, dict) and name in donor) else None
                holder[key] = copy.deepcopy(with_it)
            case 4:
                if isinstance(holder, dict):
                    holder[str(random.choice(VALUES))] = holder.pop(key)
                else:
                    holder.insert(key, copy.deepcopy(holder[key]))
            case 5:
                holder[key] = random.choice(([holder[key]], {"a": holder[key]}, [holder[key]] * 3))
            case 6:
                borrowed = list(_places(documents(random.choice(others)) or []))
                if borrowed:
                    donor, name = random.choice(borrowed)
                    if isinstance(holder, dict):
                        holder[str(name)] = copy.deepcopy(donor[name])
                    else:
                        holder[key] = copy.deepcopy(donor[name])
            case 7:
                deep = holder[key]
                for _ in range(random.choice((5, 95, 120))):
                    deep = {"a": deep} if random.random() < 0.5 else [deep]
                holder[key] = deep
    return _written(random, tree, data)


def swept(data):
    """Each node of a tree in turn becomes each of the values, or goes: all inputs one step away."""
    for at in range(len(list(_places(documents(data) or [])))):
        for value in (*VALUES, _GONE):
            tree = documents(data)
            holder, key = list(_places(tree))[at]
            if value is _GONE:
                del holder[key]
            else:
                holder[key] = copy.deepcopy(value)
            with contextlib.suppress(ValueError, yaml.YAMLError):
                yield yaml.dump_all(tree, Dumper=yaml.CSafeDumper, sort_keys=False).encode("utf-8", "surrogatepass")


def _written(random, tree, data):
    """As JSON or as PyYAML writes it: our own writer is under test."""
    try:
        if random.random() < 0.3:
            text = "\n---\n".join(json.dumps(item, ensure_ascii=random.random() < 0.5) for item in tree)
        else:
            text = yaml.dump_all(tree, Dumper=yaml.CSafeDumper, allow_unicode=random.random() < 0.5, sort_keys=False)
        return text.encode("utf-8", "surrogatepass")
    except (ValueError, RecursionError, yaml.YAMLError):
        return data


def balanced(random, data, others):
    """A piece in brackets, or between operators, from another expression or from the same."""
    donor = random.choice((data, random.choice(others)))
    pieces = re.findall(rb"[\w.]*\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\}|[\w.']+", donor) or [b"x"]
    mine = list(re.finditer(rb"[\w.]*\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\}|[\w.']+", data))
    piece = random.choice(pieces)
    match random.randrange(4):
        case 0:
            piece = (
                b"(" + piece + random.choice((b" + ", b" || ", b" == ", b" ? 1 : ", b".map(x, ", b"[")) + piece + b")"
            )
        case 1:
            piece = b"(" * 30 + piece + b")" * 30
        case _:
            pass
    if not mine:
        return data + piece
    spot = random.choice(mine)
    return data[: spot.start()] + piece + data[spot.end() :]


def encoded(random, data, others):
    """What a `!!binary` scalar or a Secret would hold."""
    start, end = _span(random, len(data))
    return data[:start] + base64.b64encode(data[start:end]) + data[end:]


BYTES = (flip, cut, repeat, insert, splice, cross, token, encoded)
WAYS = {
    "text": BYTES,
    "yaml": (*BYTES, token, lines, lines, structure, structure, structure, structure, structure),
    "cel": (*BYTES, token, token, token, balanced, balanced, balanced),
}
