"""What somebody meant who wrote a text in another form: as a tool prints it, as another tool takes it, or almost right.

Each form is tried, and the field's own pattern says which of them it takes. What is found is a suggestion, never a
value that anything is generated from.
"""

from __future__ import annotations

import re
from datetime import date
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.flat_words import flatten
from poolsmith.core.diagnostics.message_text import nearest, shorten
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.shape.field import expression
from poolsmith.core.sources.yaml_writer import scalar_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from poolsmith.core.diagnostics import RuleInfo

    Read = Callable[[Any, str, Any], Any]
    """As `core/shape/reader.py` makes them: value, pointer, sink."""

_LONGEST = 300
_MOST_DIGITS = 9
_ANY = frozenset(("latest", "newest", "stable", "current", "any", "*"))
_VERSION = pattern(r"(?<![\w.])[vVrR]?(\d+(?:\.\d+)*)")
_COMMA = pattern(r"(?<=\d),(?=\d)")
_BROWSED = pattern(r"(https://[^/]+/[^/]+/.+?)(?:/-)?/(?:tree|blob|raw)/\S+")
"""The repository of a folder or a file, as browsers show it at GitHub, GitLab and others like them."""
_ARTEFACT = pattern(r"oci:/{0,3}([^\s/]\S*)")
_HOST = pattern(r"[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+(:\d+)?/\S+")
_SCP = pattern(r"(?:ssh://)?(\w+)@([A-Za-z0-9.-]+):(?!\d+/)/*(\S+)")
_SCHEME = pattern(r"(?:git|http|https|git\+https|git\+http):/{1,3}(\S+)")
_DAY = pattern(r"(\d{1,4})[-./ ](\d{1,2})[-./ ](\d{1,4})")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAMED_DAY = pattern(r"(?:(\d{1,2})\.?\s+)?([A-Za-z]{3})[a-z]*\.?\s+(?:(\d{1,2})(?:st|nd|rd|th)?,?\s+)?(\d{4})")
_QUOTES = "\"'`\u201c\u201d\u201e\u201f\u2018\u2019\u201a\u00b4\u00ab\u00bb"
_TAG_OR_DIGEST = pattern(r"@sha256:\w+$|:[\w.-]+$")
_RELEASE = pattern(r"v?\d+(\.\d+){1,2}([-+].*)?")


def mended(text: str, form: str, words: Sequence[str] = (), known: Sequence[str] = ()) -> str | None:
    """The text in a form that the pattern `form` takes as a whole; None where no way leads there.

    `words` are examples of the field, of which the nearest may be meant. `known` is all that is known of it, the newest
    last: a point release stands for its line, and a line for its newest.
    """
    if len(text) > _LONGEST:
        return None
    takes = expression(form).fullmatch
    found = next((found for found in _tries(text, words, known) if found != text and takes(found)), None)
    line = [word for word in known if found is not None and found.startswith(f"{word}.")]
    return line[-1] if line else found


def _tries(text: str, words: Sequence[str], known: Sequence[str]) -> Iterator[str]:
    bare = text.strip().strip(_QUOTES).strip()
    yield bare
    yield from (word for word in (*words, *known) if flatten(word) == flatten(bare))
    if not _VERSION.search(bare) and (word := nearest(bare, words, certain=True)) is not None:
        yield word
    for way in _WAYS:
        yield from way(bare)
    if known:
        yield from _newest(bare, known)


def _newest(text: str, words: Sequence[str]) -> Iterator[str]:
    """Of a line of versions, or of all, where that is what is asked for."""
    if text.lower() in _ANY:
        yield words[-1]
    for number in _VERSION.findall(text):
        line = [word for word in words if word.lstrip("v").startswith(f"{number}.")]
        yield from line[-1:]


def _numbers(text: str) -> Iterator[str]:
    """The version that a tool prints with its own name, build or package beside it, and as tags have it."""
    yield _COMMA.sub(".", text)
    for part in text.split():
        if part[:1].isdigit():
            yield part
    found = max(_VERSION.findall(text), key=lambda item: item.count("."), default=None)
    if found is not None:
        yield found
        yield f"v{found}"


def _addresses(text: str) -> Iterator[str]:
    if match := _SCP.fullmatch(text):
        yield f"ssh://{match[1]}@{match[2]}/{match[3]}"
    if match := _SCHEME.fullmatch(text):
        yield f"https://{match[1]}"
    if match := _BROWSED.fullmatch(text):
        yield match[1]
    if match := _ARTEFACT.fullmatch(text):
        yield f"oci://{match[1]}"
    if _HOST.fullmatch(text):
        yield f"https://{text}"


def _references(text: str) -> Iterator[str]:
    """Branches and tags as people call them."""
    name = text.removeprefix("refs/").removeprefix("remotes/").removeprefix("origin/")
    for kind in ("heads", "tags"):
        if name.startswith(f"{kind}/"):
            yield f"refs/{name}"
    if name != "HEAD" and not _HEXADECIMAL.fullmatch(name):
        yield f"refs/{'tags' if _RELEASE.fullmatch(name) else 'heads'}/{name}"


_HEXADECIMAL = pattern(r"[0-9a-f]{7,40}")


def _days(text: str) -> Iterator[str]:
    """Days of the calendar in other notations; where month and day could be either, none."""
    if match := _DAY.match(text):
        first, second, third = map(int, match.groups())
        if len(match[1]) == len("2027"):
            yield from _day(first, second, third)
        elif len(match[3]) == len("2027") and (first > len(_MONTHS) or "." in text or first == second):
            yield from _day(third, second, first)
        elif len(match[3]) == len("2027") and second > len(_MONTHS):
            yield from _day(third, first, second)
    elif (match := _NAMED_DAY.match(text)) and match[2].lower() in _MONTHS and (match[1] or match[3]):
        yield from _day(int(match[4]), _MONTHS.index(match[2].lower()) + 1, int(match[1] or match[3]))


def _day(year: int, month: int, day: int) -> Iterator[str]:
    try:
        yield date(year, month, day).isoformat()
    except ValueError:
        return


def _paths(text: str) -> Iterator[str]:
    path = text.replace("\\", "/").removeprefix("./").rstrip("/")
    yield path
    yield path.lstrip("/")
    name = path.rpartition("/")[2]
    yield name.removesuffix(".yaml").removesuffix(".yml")


def _images(text: str) -> Iterator[str]:
    yield _TAG_OR_DIGEST.sub("", text)
    yield text.removeprefix("docker://").removeprefix("https://")


def _names(text: str) -> Iterator[str]:
    """Lower case, and one separator for all that a name can't have."""
    yield text.lower()
    yield text.replace(" ", "")
    yield text.replace(" ", "-")
    yield re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _units(text: str) -> Iterator[str]:
    yield text.upper()
    if text.lower().endswith(("%", " percent")):
        yield f"{text.split(maxsplit=1)[0].rstrip('%')}%"


_WAYS: tuple[Callable[[str], Iterable[str]], ...] = (
    _addresses,
    _days,
    _images,
    _paths,
    _numbers,
    _references,
    _names,
    _units,
)


def as_whole_number(value: object) -> int | None:
    """The number that a text or a number with a fraction of zero is."""
    if isinstance(value, str) and value.strip().isdecimal() and len(value) <= _MOST_DIGITS:
        return int(value)
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 10**_MOST_DIGITS else None


_YES = frozenset(("yes", "y", "on", "true", "enabled", "enable", "1"))
_NO = frozenset(("no", "n", "off", "false", "disabled", "disable", "0", "none"))


def as_boolean(value: object) -> bool | None:
    """What a text or a number means where true or false is needed."""
    word = str(value).strip().lower() if isinstance(value, (str, int)) else ""
    return True if word in _YES else False if word in _NO else None


@record(frozen=False, kw_only=False)
class _Trial:
    """A sink that tells only whether there was anything to report."""

    partial: bool = False
    guessed: bool = False
    refused: bool = False

    def report(self, rule: RuleInfo, pointer: str, message: str, help: str | None = None) -> None:
        del rule, pointer, message, help
        self.refused = True

    def written(self, pointer: str) -> str | None:
        del pointer
        return None

    def places_of(self, key: str) -> tuple[str, ...]:
        del key
        return ()


def as_mapping(cls: type, fields: Mapping[str, Any], value: Any) -> dict[str, Any] | None:
    """The mapping that is meant by one value: the class says it itself (`meant_by`), or one field takes the value.

    Of several that take it, those that have to be given are before the others, and those whose example begins as the
    value does, with a digit or without.
    """
    if (own := getattr(cls, "meant_by", None)) is not None and (found := own(value)) is not None:
        return dict(found)
    if isinstance(value, list) or value is None:
        return None
    taking = [name for name, field in fields.items() if _takes(field, value)]
    if not taking and isinstance(value, str) and (field := nearest(value, fields, certain=True)) is not None:
        return {field: {}}
    return {min(taking, key=lambda name: _distance(fields[name], value)): value} if taking else None


def _takes(field: Any, value: Any) -> bool:
    return _reads(field.read, value)


def _distance(field: Any, value: Any) -> tuple[bool, bool]:
    first = str(field.shape.examples[0])[:1] if field.shape.examples else ""
    return first.isdigit() != str(value)[:1].isdigit(), not field.required


def as_list(value: Any, read: Read) -> list[Any]:
    """The list that is meant by one item, by items behind commas, or by a mapping's keys; empty where none is."""
    ways: list[list[Any]] = [[value]]
    if isinstance(value, dict):
        ways.append(list(value))
    elif isinstance(value, str):
        ways.append([part.strip() for part in value.strip("[] ").split(",") if part.strip()])
    return next((items for items in ways if all(_reads(read, item) for item in items)), [])


def _reads(read: Read, item: Any) -> bool:
    trial = _Trial()
    read(item, "", trial)
    return not trial.refused


_MOST = 8


def flow_text(value: Any, missing: Iterable[str] = ()) -> str:
    """A value on one line, as YAML; `missing` are keys whose values nobody can know."""
    if isinstance(value, dict):
        if not value:
            return "{...}"
        pairs = [f"{key}: {flow_text(item)}" for key, item in list(value.items())[:_MOST]]
        return "{" + ", ".join([*pairs, *(f"{name}: ..." for name in missing)]) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(flow_text(item) for item in value[:_MOST]) + "]"
    if isinstance(value, str):
        return shorten(scalar_text(value))
    return str(value).lower()
