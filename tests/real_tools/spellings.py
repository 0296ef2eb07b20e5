"""Random objects in random spellings: ordinary ones, and those that readers of YAML do not take alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random

WORDS = (
    *(
        "true",
        "false",
        "null",
        "~",
        "True",
        "yes",
        "no",
        "on",
        "Off",
        "y",
        "N",
        "0",
        "1",
        "-1",
        "42",
        "08",
        "0777",
        "0o17",
    ),
    *("0x1F", "0b1", "1_000", "1:30", "1.0", "1.50", "1e3", "1e400", ".5", "5.", "+1", "-0", ".inf", "-.INF", ".nan"),
    *(
        "2024-01-01",
        "2024-1-1",
        "2024-01-01T00:00:00Z",
        "2024-01-01 10:00:00",
        "12:30:45",
        "9223372036854775808",
        "0.1",
    ),
    *(
        "18446744073709551616",
        "<<",
        "=",
        "!x",
        "a",
        "a b",
        "a:b",
        "a#b",
        "v1",
        "nvcr.io/nvidia",
        "pods/*",
        "1.2.3",
        "10Gi",
    ),
    *(
        "http://a.b:80/c",
        "x: y",
        "x #y",
        "é",
        "😀",
        "-x",
        "?x",
        ":x",
        "$(A)",
        "${A}",
        "{{ a }}",
        "[a]",
        "{a: b}",
        "100m",
    ),
    *("", "''", '""', "a\u2028b", "a\x85b", "\ufeffa", "a\tb", "%x", "@x", "`x`", "*x", "&x y", "!!str 5", "!!int '5'"),
)
LINES = (
    "a",
    "b c",
    "  d",
    "",
    "\te",
    " f",
    "# g",
    "h: i",
    "- j",
    "k  l",
    "m ",
    "--- n",
    "...",
    "é 😀",
    "a\u2028b",
    "'''",
    '"""',
)
ESCAPES = (
    *(r"\n", r"\t", r"\"", r"\\", r"\/", r"\0", r"\a", r"\e", r"\x41", r"\u00e9", r"\U0001F600", r"\N", r"\_", r"\L"),
    *(
        r"\P",
        r"\x7f",
        r"\x85",
        r"\x80",
        r"\u2028",
        r"\ufeff",
        r"\uffff",
        r"\ ",
        " ",
        "a",
        "b: c",
        "# d",
        "\n      e",
        "\\\n      f",
    ),
)
KEYS = (
    "a",
    "b",
    "c d",
    "e.f/g",
    "expression",
    "annotations",
    "description",
    '"<<"',
    "<<",
    "1",
    "yes",
    "null",
    "'y'",
    "? a",
    "-",
)
DIGITS = "0123456789_.:eExXoObB+-aTZ "


def text(rng: Random, names: list[str]) -> str:
    """One to three objects; their names go to `names`."""
    end = rng.choices(("\n", "\r\n", "\r", "\u2028"), (60, 10, 2, 2))[0]
    parts = []
    for _ in range(rng.choice((1, 1, 2, 3))):
        names.append(f"n{len(names)}")
        parts.append(_Writer(rng).document(names[-1]))
    marker = rng.choices(
        ("---\n", "--- # c\n", "---   \n", "---\n---\n", "...\n---\n", "...\n", "--- a\n"), (60, 4, 4, 4, 2, 2, 1)
    )[0]
    start = rng.choices(("", "---\n", "# c\n", "%YAML 1.1\n---\n", "\n\n", "\ufeff"), (40, 10, 10, 1, 5, 1))[0]
    whole = start + marker.join(parts)
    if rng.random() < 0.1:
        whole = whole.removesuffix("\n")
    if rng.random() < 0.1:
        whole += rng.choice(("---\n", "...\n", "# c", "\n\n\n", "---\n# c\n"))
    return whole.replace("\n", end)


class _Writer:
    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.anchors: list[str] = []

    def document(self, name: str) -> str:
        head = f"apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: {name}\n"
        return head + "".join(self.entry(key, 0, 3) for key in ("spec", "data"))

    def entry(self, key: str, indent: int, depth: int) -> str:
        rng, blank = self.rng, " " * indent
        before = rng.choices(("", "\n", f"{blank}# c: d\n", "# e\n", "\t\n"), (80, 3, 4, 2, 1))[0]
        kind = rng.choices(
            ("scalar", "mapping", "list", "flow", "block"), (50, 15 * bool(depth), 12 * bool(depth), 12, 14)
        )[0]
        mark = self.properties()
        if kind == "mapping":
            return f"{before}{blank}{key}:{mark}\n" + self.mapping(indent + 2, depth - 1)
        if kind == "list":
            return f"{before}{blank}{key}:{mark}\n" + self.items(indent + rng.choice((0, 2)), depth - 1)
        value = {"flow": self.flow, "scalar": self.scalar}[kind](2) if kind != "block" else self.block(indent + 2)
        comment = rng.choices(("", " # c", "\t# d", "  "), (80, 5, 2, 3))[0] if kind != "block" else ""
        return f"{before}{blank}{key}:{mark} {value}{comment}\n"

    def properties(self) -> str:
        rng = self.rng
        kind = rng.choices(("", "anchor", "tag"), (90, 6, 1))[0]
        if kind == "anchor":
            self.anchors.append(rng.choice("pqrs"))
            return f" &{self.anchors[-1]}"
        return " " + rng.choice(("!!str", "!!int", "!x", "!", "!!binary", "!!map", "!!seq", "!!null")) if kind else ""

    def keys(self) -> list[str]:
        found = self.rng.sample(KEYS, self.rng.randint(1, 4), counts=(9, 9, 3, 3, 5, 5, 5, 1, 1, 1, 1, 1, 1, 1, 1))
        return found if self.rng.random() < 0.02 else list(dict.fromkeys(found))

    def mapping(self, indent: int, depth: int) -> str:
        return "".join(self.entry(key, indent, depth) for key in self.keys())

    def items(self, indent: int, depth: int) -> str:
        rng, blank, parts = self.rng, " " * indent, []
        for _ in range(rng.randint(1, 3)):
            kind = rng.choices(("scalar", "mapping", "flow", "block", "empty"), (40, 20, 20, 10, 2))[0]
            if kind == "mapping":
                parts.append(f"{blank}- " + self.mapping(indent + 2, depth).lstrip(" \n"))
            else:
                value = {"scalar": self.scalar, "flow": self.flow, "empty": lambda _: ""}.get(
                    kind, lambda _: self.block(indent + 2)
                )(2)
                parts.append(f"{blank}-{self.properties()} {value}\n")
        return "".join(parts)

    def flow(self, depth: int) -> str:
        rng = self.rng
        if not depth or rng.random() < 0.3:
            return self.scalar(0)
        parts = [self.flow(depth - 1) for _ in range(rng.randint(0, 3))]
        gap = rng.choice((", ", ",", " , ", ",\n        "))
        if rng.random() < 0.5:
            return f"[{gap.join(parts)}{rng.choice(('', '', ', '))}]"
        colon = rng.choices((": ", ":", " : "), (20, 1, 2))[0]
        pairs = [
            f"{key}{colon}{part}" if rng.random() < 0.97 else key for key, part in zip(self.keys(), parts, strict=False)
        ]
        return f"{{{gap.join(pairs)}}}"

    def scalar(self, _: int) -> str:
        rng = self.rng
        kind = rng.choices(
            ("word", "quoted", "single", "digits", "alias", "lines", "simple"), (20, 10, 8, 6, 4, 2, 50)
        )[0]
        if kind == "simple":
            return rng.choice(("a", "b-c", '"d"', "true", "7", "'8'", "e.f/g"))
        if kind == "word":
            return rng.choice(WORDS)
        if kind == "quoted":
            return '"' + "".join(rng.choice(ESCAPES) for _ in range(rng.randint(0, 5))) + '"'
        if kind == "single":
            return "'" + rng.choice(WORDS).replace("'", "''") + "'"
        if kind == "digits":
            return "".join(rng.choice(DIGITS) for _ in range(rng.randint(1, 7)))
        if kind == "lines":
            return "a b\n      c"
        return f"*{rng.choice(self.anchors)}" if self.anchors else "a"

    def block(self, indent: int) -> str:
        rng, blank = self.rng, " " * indent
        lines = [rng.choice(LINES) for _ in range(rng.randint(1, 5))]
        style = rng.choice("||>") + rng.choice(("", "-", "+"))
        if rng.random() < 0.1 or lines[0].startswith((" ", "\t")) or not lines[0]:
            style += "2"
        return style + "\n" + "\n".join(blank + line if line else "" for line in lines)
