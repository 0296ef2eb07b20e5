"""Workflows of GitHub and its likes that do not run the check, and may still decide it.

Source: the documentation of GitHub on required status checks (a check is known by the name of its job), on
`permissions`, and on events that run with the rights of the base.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.listing import listed
from poolsmith.core.sources.pod_template import mapping, mappings, word
from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

_EVENTS = frozenset(("pull_request_target", "workflow_run"))
_RIGHTS = frozenset(("actions", "checks", "contents", "pull-requests", "statuses"))
_WRITE, _ALL = "write", "write-all"


def job_names(text: str | None) -> frozenset[str]:
    """Under which its jobs report; all in lower case."""
    body = _body(text)
    found = set()
    for key, job in mapping(mapping(body).get("jobs")).items():
        found |= {str(key).casefold(), word(mapping(job).get("name")).casefold()}
    return frozenset(found - {""})


def decides(old: str | None, new: str | None, taken: Collection[str]) -> Iterator[str]:
    """What a workflow may do to the check after the change and not before, in words that follow its name.

    `taken` are the names under which the check reports.
    """
    if new is None:
        return
    body = _body(new)
    if body is None:
        yield "can't be read, so that nobody can tell what it runs"
        return
    if names := sorted((job_names(new) - job_names(old)) & frozenset(taken)):
        yield f"has a job of the name {listed(names)}, under which the check reports: it could report in its place"
    before = _body(old) or {}
    if events := sorted(_events(body) - _events(before)):
        yield f"runs on {listed(events)}, with the rights of the base and on changes of strangers"
    if rights := sorted(_rights(body) - _rights(before)):
        yield f"may write {listed(rights)}: it could change what is delivered, or what is said of a change"


def _body(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    try:
        documents = [item for item in read_documents(text) if item is not None]
    except YamlProblem:
        return None
    return documents[0] if len(documents) == 1 and isinstance(documents[0], dict) else None


def _events(body: dict[str, Any]) -> frozenset[str]:
    """The key `on`, which a reader of YAML 1.1 takes for a boolean."""
    on = next((value for key, value in body.items() if str(key).casefold() in ("on", "true")), None)
    found = [on] if isinstance(on, str) else on if isinstance(on, (list, dict)) else []
    return frozenset(item for item in found if isinstance(item, str)) & _EVENTS


def _rights(body: dict[str, Any]) -> frozenset[str]:
    found: set[str] = set()
    for holder in (body, *mappings(list(mapping(body.get("jobs")).values()))):
        rights = holder.get("permissions")
        if rights == _ALL:
            found |= _RIGHTS
        found |= {key for key, value in mapping(rights).items() if value == _WRITE and key in _RIGHTS}
    return frozenset(found)
