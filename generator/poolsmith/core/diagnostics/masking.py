"""Secrets recognised by name, by shape or within an address, and text in which all of them are masked.

Names of secrets, paths of files that hold them and whom a token is for are no secrets: `secretName`, `keyFile`,
`imagePullSecrets`, `tokenAudience` stay readable.

In an address, a user name, a password, a query or a fragment may hold a secret.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from poolsmith.core.pattern import pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


_SCHEME = "://"
_AUTHORITY = pattern(r"([A-Za-z][A-Za-z0-9+.-]{0,30}://)([^\s/?#\"'`<>\\]*)@")
_AFTER = pattern(r"([A-Za-z][A-Za-z0-9+.-]{0,30}://[^\s?#\"'`<>\\]++)(?:([?#])([^\s\"'`<>\\]++))?")
_WHOLE = pattern(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]{0,30})://(?P<authority>[^\s/?#]*+)(?P<path>[^\s?#]*+)(?P<rest>\S*+)"
)
_VARIABLE = pattern(r"\$\([A-Za-z_][A-Za-z0-9_.-]*\)|\$\{?[A-Za-z_][A-Za-z0-9_]*\}?")
_SSH = "ssh"
_USER, _PASSWORD, _QUERY, _FRAGMENT = "a user name", "a password", "a query", "a fragment"


def without_secrets(text: str) -> str:
    """The text with each such part of an address starred out, letter by letter: columns stay where they are."""
    if _SCHEME not in text:
        return text
    starred = _AUTHORITY.sub(lambda found: f"{found[1]}{'*' * len(found[2])}@", text)
    return _AFTER.sub(lambda found: f"{found[1]}{found[2] or ''}{'*' * len(found[3] or '')}", starred)


def may_hold_address(text: str) -> bool:
    """Whether a text of YAML may say one: word for word, or with signs that are escaped."""
    return _SCHEME in text or "\\" in text


def secret_in_address(text: str) -> str | None:
    """What part of an address may be a secret, in words; None where there is none.

    A password counts in any text, the other parts where the text is an address and nothing else. Variables are no
    secrets, and SSH has to have a user name.
    """
    if _SCHEME not in text:
        return None
    if any(_has_password(found[2]) for found in _AUTHORITY.finditer(text)):
        return _PASSWORD
    whole = _WHOLE.fullmatch(text.strip())
    if whole is None:
        return None
    user, at, _ = whole["authority"].rpartition("@")
    if at and whole["scheme"].lower() != _SSH and not _is_variable(user.partition(":")[0]):
        return _USER
    if whole["rest"].startswith("?"):
        return _QUERY
    return _FRAGMENT if whole["rest"].startswith("#") else None


def _has_password(authority: str) -> bool:
    password = authority.partition(":")[2]
    return bool(password) and not _is_variable(password)


def _is_variable(text: str) -> bool:
    return _VARIABLE.fullmatch(text) is not None


MASK = "***"
_MOST_TEXT = 1 << 16
_HELD = ("data", "stringData")
_LONGEST_NAME = 200
_LONGEST_LINE = 2_000
_SHORTEST = 4
_A_WORD = 8
_TOLD = 16
"""Letters by which a secret is found again in a message that shows only its beginning."""


class Shape(NamedTuple):
    """`hint` is what a text must hold to be worth a closer look; the group `keep` of `pattern` is no secret.

    `plain` is False for what is encrypted: it is masked, and no finding.
    """

    hint: str
    pattern: re.Pattern[str]
    what: str
    plain: bool = True


def _shape(hint: str, regex: str, what: str, *, plain: bool = True) -> Shape:
    return Shape(hint, pattern(regex, re.DOTALL), what, plain)


SHAPES = (
    _shape("nvapi-", r"nvapi-[A-Za-z0-9_-]{20,}", "an NGC API key"),
    _shape(
        "PRIVATE KEY",
        r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?:.*?-----END (?:[A-Z0-9]+ )*PRIVATE KEY-*|.*)",
        "a private key",
    ),
    _shape("AGE-SECRET", r"AGE-SECRET-KEY-1[A-Z0-9]{10,}", "a private key"),
    _shape(
        "eyJ",
        r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]{10,})?",
        "a signed token",
    ),
    _shape("gh", r"\bgh[pousr]_[A-Za-z0-9]{30,}", "a GitHub token"),
    _shape("github_pat_", r"\bgithub_pat_[A-Za-z0-9_]{20,}", "a GitHub token"),
    _shape("glpat-", r"\bglpat-[A-Za-z0-9_-]{16,}", "a GitLab token"),
    _shape("IA", r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b", "an AWS access key"),
    _shape("AIza", r"\bAIza[A-Za-z0-9_-]{30,}", "a Google API key"),
    _shape("xox", r"\bxox[abprs]-[A-Za-z0-9-]{10,}", "a Slack token"),
    _shape("hf_", r"\bhf_[A-Za-z0-9]{30,}", "a Hugging Face token"),
    _shape("dckr_", r"\bdckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}", "a Docker token"),
    _shape("npm_", r"\bnpm_[A-Za-z0-9]{36,}", "an npm token"),
    _shape("pypi-", r"\bpypi-[A-Za-z0-9_-]{50,}", "a PyPI token"),
    _shape("hvs.", r"\bhvs\.[A-Za-z0-9_-]{20,}", "a Vault token"),
    _shape("eyJhdXRo", r"\beyJhdXRo[A-Za-z0-9+/=]{10,}", "registry credentials"),
    _shape('"auth', r'(?P<keep>"auths?"\s*:\s*)(?:"[^"$<][^"]*"|\{[^$<].*)', "registry credentials"),
    _shape(
        "://",
        r"(?P<keep>[A-Za-z]://)[^/\s:@$<{]{1,200}:[^/\s@$<{*]{1,200}(?=@)",
        "a password in an address",
    ),
    _shape("://", r"(?P<keep>\bhttps?://)(?=[^@]*[0-9])[^/\s:@$<{*]{12,300}(?=@)", "a token in an address"),
    _shape(
        "=",
        (
            r"(?i)(?P<keep>[?&;](?:[a-z]{1,20}[_-]){0,5}(?:token|password|passwd|secret|api_?key|signature|sig|x-amz-signature)=)"
            r"[^&\s#$<{*`'\"]{8,}"
        ),
        "a token in an address",
    ),
    _shape("earer ", r"(?P<keep>\b[Bb]earer )(?=[^\s]*[0-9])[A-Za-z0-9._~+/=-]{16,}", "an authorization header"),
    _shape(
        "asic ",
        r"(?P<keep>\b[Bb]asic )(?=[^\s]*[0-9=])[A-Za-z0-9+/]{12,}={0,2}",
        "an authorization header",
    ),
    _shape("ENC[", r"ENC\[[A-Za-z0-9_]+,[^\]]*\]?", "an encrypted value", plain=False),
)
_WORD = (
    "password|passwd|passphrase|pwd|secret|token|api_?key|private_?key|access_?key|secret_?key|signing_?key|"
    "encryption_?key|account_?key|credentials?|dockerconfigjson|dockercfg"
)
_LINE_WORD = _WORD.replace("_", "[_-]")
_NAMES = pattern(rf"(?i)(?:^|[_.-])(?:{_LINE_WORD})$", re.DOTALL)
_SUSPICIOUS = pattern(r"(?i)key|token|secret|pass|pwd|cred|auth|license|licence", re.DOTALL)
_REFERENCE = pattern(
    r"(?i)(?:name|file|path|dir|folder|refs?|audience|issuer|expiry|seconds|type|kind|namespace|mount|url|uri|env|hash"
    r"|digest|sum)$",
    re.DOTALL,
)
_REFERRING = ("Ref", "From")
"""How keys end below which a secret is named, and where in it something stands."""
_SIGNS = pattern(r"[_.-]+")
_WORDS = pattern(r"(?<=[a-z0-9])(?=[A-Z])", re.DOTALL)
_PLACEHOLDER = pattern(
    r"^(?:\s*|<.*>|\$\{.*\}|\$\(.*\)|\{\{.*|\*+|x{3,}|ENC\[.*|vault:.*|ref\+.*|true|false|\d{1,6})$", re.DOTALL
)
_RANDOM = pattern(r"(?=.*[a-z])(?=.*[A-Z])(?=.*[0-9])[A-Za-z0-9+/=_.-]{16,}\Z", re.DOTALL)
_FLAG = pattern(rf"(?i)--?[\w-]*(?:{_LINE_WORD})\Z", re.DOTALL)
_ASSIGNED = pattern(
    rf"""(?i)(?:["']?\b[\w.-]{{0,100}}(?:{_LINE_WORD})["']?\s{{0,100}}[:=]|"""
    rf"""--?[\w-]{{0,100}}(?:{_LINE_WORD})["']?[,\s])\s{{0,100}}(?P<text>\S.*)""",
    re.DOTALL,
)


_PLAIN = tuple(item for item in SHAPES if item.plain)


def shapes_hinted(text: str) -> tuple[Shape, ...]:
    """The shapes that a part of a text may have, of any length: few texts have a hint of one."""
    return tuple(item for item in _PLAIN if item.hint in text)


def shape_of(text: str, shapes: tuple[Shape, ...] = _PLAIN) -> str:
    """What a text has the shape of, wherever in it; empty where it is no secret that can be told by its shape."""
    head = text[:_MOST_TEXT]
    return next((item.what for item in shapes if item.hint in head and item.pattern.search(head)), "")


def shaped_parts(text: str) -> tuple[str, ...]:
    """The parts of a text that have the shape of a secret."""
    head = text[:_MOST_TEXT]
    found = [match for shape in SHAPES if shape.hint in head for match in shape.pattern.finditer(head)]
    return tuple(match[0][len(match.groupdict().get("keep") or "") :] for match in found)


def assigned_parts(text: str) -> tuple[str, ...]:
    """What an argument, or a line of an environment, gives to a name of a secret."""
    name, given, value = text[:_LONGEST_LINE].partition("=")
    is_named = given and " " not in name and _is_named(name.lstrip("-"))
    return (value,) if is_named and not value.startswith("/") and not is_placeholder(value) else ()


def is_secret_name(name: str) -> bool:
    """Whether what stands under a key, or in a variable, of that name is a secret."""
    return len(name) < _LONGEST_NAME and _NAMES.search(_WORDS.sub("_", name)) is not None


_MISSPELT = {
    **dict.fromkeys(("password", "passphrase", "credential", "credentials"), 2),
    **dict.fromkeys(("passwd", "secret", "token", "apikey", "privatekey", "accesskey", "secretkey", "signingkey"), 1),
    **dict.fromkeys(("encryptionkey", "accountkey", "dockerconfigjson", "dockercfg"), 1),
}
"""Names of secrets, with how many letters may be wrong, missing, too many or in another order."""
_LETTERS = {known: frozenset(known) for known in _MISSPELT}
_OF_LENGTH = {
    length: [(known, most) for known, most in _MISSPELT.items() if abs(length - len(known)) <= most]
    for length in range(max(map(len, _MISSPELT)) + max(_MISSPELT.values()) + 1)
}
"""Which of them a word of a length may be meant for."""
_OTHER_WORDS = frozenset(("taken", "passed", "passport"))
_LONGEST_WORD = 20
_KEY = pattern(r"(?<![\w.-])[\w.-]{4,100}+(?=[\"']?\s{0,20}[:=])", re.DOTALL)


@lru_cache(maxsize=4096)
def is_misspelt_secret_name(name: str) -> bool:
    """Whether a key is nearly the name of a secret: what stands under it was meant to be one. Plurals are not."""
    if len(name) >= _LONGEST_NAME or is_secret_name(name):
        return False
    parts = _SIGNS.split(_WORDS.sub("_", name).lower())
    words = {word for word in (parts[-1], "".join(parts[-2:])) if _may_be_misspelt(word)}
    return any(_is_nearly(word, known, most) for word in words for known, most in _OF_LENGTH.get(len(word), ()))


def _may_be_misspelt(word: str) -> bool:
    return (
        _SHORTEST <= len(word) <= _LONGEST_WORD and word not in _OTHER_WORDS and word.removesuffix("s") not in _MISSPELT
    )


def _is_nearly(word: str, known: str, most: int) -> bool:
    """Each letter of the known word that the other has not at all takes an edit of its own: few words get further."""
    return len(_LETTERS[known].difference(word)) <= most and _distance(word, known) <= most


def names_something_like_a_secret(text: str) -> bool:
    """Whether some key in a text is nearly the name of a secret."""
    return any(map(is_misspelt_secret_name, set(_KEY.findall(text))))


def _distance(one: str, other: str) -> int:
    """How many letters have to be changed, put in, taken out or swapped with the next."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one):
        new = [at + 1]
        for index, wanted in enumerate(other):
            cost = min(row[index] + (letter != wanted), row[index + 1] + 1, new[index] + 1)
            if at and index and letter == other[index - 1] and one[at - 1] == wanted:
                cost = min(cost, before[index - 1] + 1)
            new.append(cost)
        before, row = row, new
    return row[-1]


def _is_named(name: str) -> bool:
    return is_secret_name(name) or is_misspelt_secret_name(name)


PULL_SECRETS = "imagePullSecrets"
_OBJECT_NAME = pattern(r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?\Z", re.DOTALL)


def is_object_name(value: Any) -> bool:
    """Whether a Secret could be called so. What else stands below `imagePullSecrets` may be a secret itself."""
    return isinstance(value, str) and not shape_of(value) and _OBJECT_NAME.match(value) is not None


def _masked_pull_secrets(value: Any) -> Any:
    if isinstance(value, list):
        return [item if is_object_name(item) else _named_or_masked(item) for item in value]
    return _named_or_masked(value)


def _named_or_masked(value: Any) -> Any:
    """The form of Kubernetes, `{name: a}`, or nothing that is shown."""
    if not isinstance(value, dict):
        return value if value is None else _all_masked(value)
    return {key: item if key == "name" and is_object_name(item) else _all_masked(item) for key, item in value.items()}


def is_flag(text: str) -> bool:
    """Whether an argument says that the next one is a secret."""
    return len(text) < _LONGEST_NAME and text.startswith("-") and _FLAG.match(_WORDS.sub("-", text)) is not None


def is_placeholder(text: str) -> bool:
    """Nothing, or what stands for something that is filled in elsewhere."""
    return _PLACEHOLDER.match(text[:_MOST_TEXT]) is not None


def is_secret(name: str, text: str) -> bool:
    """Whether a text is to be masked that stands under a key: by its name, or as it looks."""
    if is_placeholder(text):
        return False
    if _is_named(name):
        return not text.startswith("/")
    return (
        len(name) < _LONGEST_NAME
        and _SUSPICIOUS.search(name) is not None
        and _REFERENCE.search(name) is None
        and len(text) < _MOST_TEXT
        and _RANDOM.match(text) is not None
    )


class KnownSecrets:
    """Texts that are secrets, found again in messages that hold them, or only their beginning."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._by_start: dict[str, list[str]] = {}
        for text in sorted(set(texts)):
            if len(text) >= _SHORTEST:
                self._by_start.setdefault(text[:_SHORTEST], []).append(text)

    def __bool__(self) -> bool:
        return bool(self._by_start)

    def without(self, text: str) -> str:
        """`text` with these masked, and all that has the shape of a secret."""
        if self._by_start:
            text = "".join(self._parts(text))
        return masked(text)

    def _parts(self, text: str) -> Iterator[str]:
        at = done = 0
        while at < len(text):
            candidates = self._by_start.get(text[at : at + _SHORTEST], ())
            length = max((_length_at(text, at, secret) for secret in candidates), default=0)
            if length:
                yield text[done:at]
                yield MASK
                at = done = at + length
            else:
                at += 1
        yield text[done:]


NO_SECRETS = KnownSecrets()


def _length_at(text: str, at: int, secret: str) -> int:
    """How much of a secret stands at a place of a text: all of it, or a beginning that tells it. A short one has to
    stand alone: it may be a word."""
    if not text.startswith(secret[:_TOLD], at):
        return 0
    length = min(len(secret), _TOLD)
    while length < len(secret) and text[at + length : at + length + 1] == secret[length]:
        length += 1
    if len(secret) < _A_WORD and (_is_inside(text, at) or _is_inside(text, at + length)):
        return 0
    return length


def _is_inside(text: str, at: int) -> bool:
    return 0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum()


def masked(text: str) -> str:
    """`text` without what has the shape of a secret; in addresses the columns stay as they are."""
    text = without_secrets(text)
    for shape in SHAPES:
        if shape.hint in text:
            text = shape.pattern.sub(_masked_match, text)
    return text


def masked_tree(value: Any, name: str = "") -> Any:
    """A tree of mappings, lists and scalars that stands under a key, with the secrets in it masked.

    What stands in a mapping or a list under the name of a secret is one, too, but for what only refers to one.
    """
    return _masked_below(value, name, _is_named(name))


def _masked_below(value: Any, name: str, is_named: bool) -> Any:
    """`is_named`: a key above, or the key itself, is the name of a secret."""
    if isinstance(value, dict):
        named = value.get("name") if "value" in value else None
        held = _HELD if value.get("kind") == "Secret" else ()
        return {
            masked(key) if isinstance(key, str) else key: _all_masked(item)
            if key in held
            else _masked_under(item, str(named) if key == "value" and named else str(key), is_named)
            for key, item in value.items()
        }
    if isinstance(value, list):
        before = ["", *(item if isinstance(item, str) else "" for item in value)]
        return [
            _masked_below(item, "token" if is_flag(flag) else "", is_named or is_flag(flag))
            for flag, item in zip(before, value, strict=False)
        ]
    if isinstance(value, str):
        found = is_secret("token" if is_named else name, value)
        return MASK if found else "\n".join(map(masked_line, masked(value).split("\n")))
    if is_named and isinstance(value, int | float) and not is_placeholder(str(value).lower()):
        return MASK
    return value


def _masked_under(value: Any, key: str, is_named: bool) -> Any:
    if key == PULL_SECRETS:
        return _masked_pull_secrets(value)
    refers = _REFERENCE.search(key) is not None or key.endswith(_REFERRING)
    return _masked_below(value, key, (is_named and not refers) or _is_named(key))


def _all_masked(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _all_masked(item) for key, item in value.items()}
    return [_all_masked(item) for item in value] if isinstance(value, list) else MASK


def masked_line(line: str) -> str:
    """The beginning of a line of a file: also without what is assigned to a name of a secret, in whatever language, or
    follows such a flag."""
    line = masked(line[:_LONGEST_LINE])
    at = 0
    while (found := _ASSIGNED.search(line, at)) is not None:
        at = found.start("text")
        if found["text"][0] not in "/[{|>&*#" and not is_placeholder(found["text"].strip("\"' ")):
            return f"{line[:at]}{MASK}"
    return _without_misspelt(line)


def _without_misspelt(line: str) -> str:
    for found in _KEY.finditer(line):
        if is_misspelt_secret_name(found[0]):
            rest = line[found.end() :]
            value = rest.lstrip("\"' \t:=")
            if value and value[0] not in "/[{|>&*#" and not is_placeholder(value.strip("\"' ")):
                return f"{line[: len(line) - len(value)]}{MASK}"
    return line


def _masked_match(found: re.Match[str]) -> str:
    return f"{found.groupdict().get('keep') or ''}{MASK}"
