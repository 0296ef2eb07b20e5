"""What `helm install`, `upgrade` and `template` of a script say: chart, version, values, namespace.

Source: helm/helm@v3.18.4:cmd/helm/install.go, upgrade.go, flags.go; pkg/cli/values/options.go (MergeValues).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.sources.shell_text import OPEN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.sources.shell_text import ShellText, Word

_HELM = pattern(r"(?<![\w./~=])(?<![\w-]-)(?:[\w.~-]*+/)*+(?:helm3?|\$[({]?HELM(?:_BIN|_CMD)?[)}]?)(?=[ \t]+[\w\\$-])")
_VERBS = ("install", "upgrade", "template")
_GIVEN = frozenset(
    (
        "a", "api-versions", "burst-limit", "ca-file", "cert-file", "description", "f", "history-max",
        "key-file", "keyring", "kube-apiserver", "kube-as-group", "kube-as-user", "kube-ca-file",
        "kube-context", "kube-tls-server-name", "kube-token", "kube-version", "kubeconfig", "l", "labels", "n",
        "name-template", "namespace", "o", "output", "output-dir", "password", "post-renderer",
        "post-renderer-args", "qps", "registry-config", "release-name", "repo", "repository-cache",
        "repository-config", "s", "set", "set-file", "set-json", "set-literal", "set-string", "show-only",
        "timeout", "username", "values", "version",
    )
)  # fmt: skip
"""Flags that are followed by what they are given."""
_LONG = {"n": "namespace", "f": "values"}


@record(kw_only=False)
class HelmCommand:
    """`chart` is the word that names it. `flags` are those that are given something, in their order, by the long name.
    `rest` are words that nobody knows. `given` is the range of the here-document, `at` that of the program's name."""

    at: Word
    chart: Word
    release: str | None
    flags: tuple[tuple[str, Word], ...]
    others: frozenset[str]
    rest: tuple[Word, ...] = ()
    given: tuple[int, int] | None = None
    verb: str = ""

    def of(self, name: str) -> Iterator[Word]:
        return (word for flag, word in self.flags if flag == name)

    def last(self, name: str) -> Word | None:
        """What the flag is given; of several times the last one counts."""
        return next(reversed(list(self.of(name))), None)


def helm_commands(text: ShellText) -> tuple[list[HelmCommand], dict[str, str]]:
    """Those that install a chart, and the addresses of repositories by the names that the script gives them."""
    found: list[HelmCommand] = []
    repositories: dict[str, str] = {}
    for command in text.commands(_HELM):
        words, flags, others = _read(command.words[1:])
        told = [word.text for word in words]
        if told[:2] == ["repo", "add"] and told[3:]:
            repositories[told[2]] = told[3]
        elif told[:1] and told[0] in _VERBS:
            named = (word for word in reversed(words[1:]) if not word.text.startswith(OPEN) or "/" in word.text)
            chart = next(named, None)
            if chart is not None:
                before = [word for word in words[1:] if word.at < chart.at]
                release = before[-1].text if before and not before[-1].is_open else None
                rest = tuple(word for word in words[1:] if word.at > chart.at)
                own = (command.words[0], chart, release, tuple(flags), frozenset(others), rest, command.given, told[0])
                found.append(HelmCommand(*own))
    return found, repositories


def _read(words: tuple[Word, ...]) -> tuple[list[Word], list[tuple[str, Word]], list[str]]:
    """The words that are no flags, the flags with what they are given, and the others."""
    plain: list[Word] = []
    flags: list[tuple[str, Word]] = []
    others: list[str] = []
    left = iter(words)
    for word in left:
        name, sign, value = _flag(word.text)
        if not word.text.startswith("-") or word.text == "-":
            plain.append(word)
        elif sign:
            flags.append((_LONG.get(name, name), replace(word, text=value, at=max(word.at, word.end - len(value)))))
        elif name in _GIVEN:
            given = next(left, None)
            if given is not None:
                flags.append((_LONG.get(name, name), given))
        else:
            others.append(name)
    return plain, flags, others


def _flag(text: str) -> tuple[str, str, str]:
    """Its name, what stands between, and what it is given: `--values=a`, `-f=a`, `-fa`."""
    name, sign, value = text.lstrip("-").partition("=")
    is_short = text[:2] != "--" and text[1:2] in _GIVEN and text[2:]
    return (text[1], "=", text[2:].removeprefix("=")) if is_short else (name, sign, value)
