"""Cases that a policy has to decide as they say: kind PolicyTest, in `*.test.yaml` beside policies."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from poolsmith.core.record import record
from poolsmith.core.shape.field import TEXT, spec
from poolsmith.core.shape.review import PROSE

KIND = "PolicyTest"
_FILE = r"[A-Za-z0-9_@+=-][A-Za-z0-9_.@+=-]*(/[A-Za-z0-9_@+=-][A-Za-z0-9_.@+=-]*)*"
_MINOR = r"1\.[0-9]{1,3}"
_NAME = r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?"


class Expected(StrEnum):
    """The result of a case. `error`: an expression fails, whatever failurePolicy makes of that."""

    ALLOW = "allow"
    DENY = "deny"
    ERROR = "error"


class CaseOperation(StrEnum):
    """Of a request."""

    CREATE = "CREATE"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    CONNECT = "CONNECT"


@record
class CaseUser:
    """Who sends the request."""

    name: str = spec("User name.", pattern=TEXT, examples=("system:serviceaccount:flux-system:kustomize-controller",))
    groups: tuple[str, ...] = spec("Groups of the user.", pattern=TEXT, default=())
    uid: str = spec("UID of the user, where who authenticates gives one.", pattern=TEXT, default="")
    extra: dict[str, tuple[str, ...]] = spec("What authentication adds, by key.", keys=TEXT, pattern=TEXT, default={})


@record
class Expectation:
    """The expected result."""

    verdict: Expected = spec("What the policy says.")
    message: str = spec("Part of the message of a validation that fails.", pattern=PROSE, default="")


@record
class PolicyCase:
    """One request, and what a policy has to say of it."""

    name: str = spec("What the case shows, in a few words.", pattern=TEXT)
    policy: str = spec("Name of the policy; optional if the file tests only one.", pattern=_NAME, default="")
    object: dict[str, Any] = spec("The object as it is sent.", default={})
    object_file: str = spec("A file with the object, instead of `object`.", pattern=_FILE, default="")
    old_object: dict[str, Any] = spec("The object as it was, for UPDATE and DELETE.", default={})
    params: tuple[dict[str, Any], ...] = spec(
        "Parameter objects, in addition to those beside the policy; the same name replaces one.", default=()
    )
    namespace_object: dict[str, Any] = spec("The object's namespace.", default={})
    operation: CaseOperation | None = spec("Default: what the objects say.", default=None)
    subresource: str = spec("Such as `exec` or `scale`.", pattern=r"[a-z]{0,60}", default="")
    kubernetes: str = spec("Version of the API server.", pattern=_MINOR, default="", examples=("1.34",))
    user: CaseUser | None = spec("Who sends the request. Default: unknown.", default=None)
    expect: Expectation = spec("The expected result.")


@record
class PolicyTestSpec:
    """The cases of a file."""

    policies: tuple[str, ...] = spec(
        "Files with policies, bindings and parameters, from this file's folder. Default: all of its files.",
        pattern=_FILE,
        default=(),
    )
    kubernetes: str = spec("Version of the API server, for cases that name none.", pattern=_MINOR, default="")
    cases: tuple[PolicyCase, ...] = spec("The cases.")


@record
class CaseResult:
    """What became of one case. `why` says in one sentence what is wrong; empty: it came out as expected.

    `met` are the policies that evaluated the request.
    """

    file: str
    name: str
    policy: str
    expected: str
    actual: str
    why: str = ""
    message: str = ""
    met: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        return not self.why
