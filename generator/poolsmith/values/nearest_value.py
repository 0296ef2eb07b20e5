"""Which key was meant: the nearest at its place, else where that key belongs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.catalog.value_paths import flatten

if TYPE_CHECKING:
    from collections.abc import Iterable

    from poolsmith.catalog.value_paths import ReleaseValues
    from poolsmith.values.document import UnknownKey

_LONGEST = 60
_CUTOFF = 0.6
_PLACES = 4


def advice(item: UnknownKey, release: ReleaseValues) -> str:
    """What to write instead of an unknown key."""
    *above, key = item.path
    prefix = ".".join(above) + "." if above else ""
    siblings = item.parent.children
    if len(key) > _LONGEST:
        return "remove it: Helm drops it silently"
    if (match := closest(key, siblings, certain=True)) is not None:
        return f"did you mean `{prefix}{match}`?"
    if "." in key and _is_read(f"{prefix}{key}", release):
        return (
            f"a dot does not nest keys in a values file: write `{key.replace('.', ': {')}: ...{'}' * key.count('.')}`"
        )
    if places := release.by_key.get(flatten(key), ()):
        return _belongs(places)
    if (match := closest(key, siblings)) is not None:
        return f"did you mean `{prefix}{match}`?"
    if (name := closest(flatten(key), release.by_key)) is not None:
        return _belongs(release.by_key[name])
    return "remove it: Helm drops it silently"


def closest(word: str, known: Iterable[str], *, certain: bool = False) -> str | None:
    """The known word that differs in case and separators only, else by one edit, else the most similar one.

    With `certain`, the last is left out.
    """
    candidates = list(known)
    flat = flatten(word)
    same = [candidate for candidate in candidates if flatten(candidate) == flat]
    if same:
        return same[0]
    from difflib import SequenceMatcher, get_close_matches

    near = [candidate for candidate in candidates if len(candidate) > 1 and one_edit(flat, flatten(candidate))]
    if near:
        matcher = SequenceMatcher(b=flat)

        def rank(candidate: str) -> tuple[bool, float]:
            matcher.set_seq1(flatten(candidate))
            return sorted(flatten(candidate)) == sorted(flat), matcher.ratio()

        return max(near, key=rank)
    if certain:
        return None
    found = get_close_matches(word, candidates, n=1, cutoff=_CUTOFF)
    return found[0] if found else None


def one_edit(left: str, right: str) -> bool:
    """Whether one letter dropped, added, replaced or swapped with its neighbour makes one word of the other."""
    if abs(len(left) - len(right)) > 1 or left == right:
        return False
    short, long = sorted((left, right), key=len)
    at = next((index for index, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    if len(short) < len(long):
        return short[at:] == long[at + 1 :]
    swapped = short[at : at + 2] == long[at : at + 2][::-1] and short[at + 2 :] == long[at + 2 :]
    return swapped or short[at + 1 :] == long[at + 1 :]


def _belongs(places: tuple[str, ...]) -> str:
    if len(places) == 1:
        above = places[0].rpartition(".")[0]
        return f"it belongs {f'under `{above}`' if above else 'at the top'}: `{places[0]}`"
    rest = f" and {len(places) - _PLACES} more" if len(places) > _PLACES else ""
    return f"this release reads it at {', '.join(f'`{place}`' for place in places[:_PLACES])}{rest}"


def _is_read(dotted: str, release: ReleaseValues) -> bool:
    node = release.root
    for key in dotted.split("."):
        if key not in node.children:
            return False
        node = node.children[key]
    return True
