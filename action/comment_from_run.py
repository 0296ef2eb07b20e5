"""Comment on a pull request from a fork, with what its own run has left behind.

    python comment_from_run.py

It runs in a `workflow_run`, with the rights of the base, and believes only GitHub: which pull request it was is asked
of the API, by the commit that the event tells. ARTIFACT names the artifact, COMMENT_NAME and TOKEN are as for
comment.py.
"""

from __future__ import annotations

import os
import re
import sys
from typing import Any
from urllib.parse import urlencode

from comment_artifact import MOST_ZIPPED, HostileArtifactError, text_of
from github_api import Api, ApiError
from harmless_markdown import harmless
from step import at, event, put, tell
from sticky_comment import BadNameError, StickyComment

_COMMIT = re.compile(r"[0-9a-f]{40,64}")
_FULL_NAME = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)


class NothingToCommentError(Exception):
    """Why there is no comment, though nothing is wrong with this run."""


def comment() -> str:
    """What was done. Raises ApiError, BadNameError, HostileArtifactError, NothingToCommentError."""
    run = at(event(), "workflow_run")
    if at(run, "event") != "pull_request" or not isinstance(at(run, "id"), int):
        raise NothingToCommentError("this was no run of a pull request")
    api = Api(os.environ["GITHUB_API_URL"], os.environ.get("TOKEN", ""))
    repository = os.environ["GITHUB_REPOSITORY"]
    number = request_of(api, repository, run)
    text = artifact(api, repository, run["id"])
    sticky = StickyComment(api, repository, number, os.environ.get("COMMENT_NAME", ""))
    address = f"{os.environ.get('GITHUB_SERVER_URL', '')}/{repository}/actions/runs/{run['id']}"
    if not text.strip():
        return sticky.say("")
    said = (
        f"> Made by [the change's own run]({address}), which the change itself can alter: read it, and believe the"
        " required check.\n\n"
    )
    return sticky.say(said + harmless(text), f"All of it: {address}")


def request_of(api: Api, repository: str, run: Any) -> int:
    """The open pull request whose commit this was. Raises ApiError, NothingToCommentError."""
    head, branch, fork = (at(run, "head_sha"), at(run, "head_branch"), at(run, "head_repository", "full_name"))
    if not _COMMIT.fullmatch(str(head)) or not _FULL_NAME.fullmatch(str(fork)) or not isinstance(branch, str):
        raise NothingToCommentError("the event does not tell whose commit it was")
    owner = str(fork).partition("/")[0]
    asked = urlencode({"state": "open", "per_page": 100, "head": f"{owner}:{branch}"})
    found = [
        item
        for item in api.ask("GET", f"/repos/{repository}/pulls?{asked}")
        if at(item, "head", "sha") == head
        and at(item, "head", "repo", "full_name") == fork
        and at(item, "base", "repo", "full_name") == repository
    ]
    if len(found) != 1:
        raise NothingToCommentError(f"{len(found)} open pull requests have this commit: there is nobody to tell")
    return int(found[0]["number"])


def artifact(api: Api, repository: str, run: int) -> str:
    """Raises ApiError, HostileArtifactError, NothingToCommentError."""
    name = os.environ.get("ARTIFACT", "")
    asked = urlencode({"per_page": 100, "name": name})
    listed = api.ask("GET", f"/repos/{repository}/actions/runs/{run}/artifacts?{asked}")
    found = [item for item in at(listed, "artifacts") or [] if at(item, "name") == name and not at(item, "expired")]
    if not found:
        raise NothingToCommentError("that run has left no such artifact")
    newest = max(found, key=lambda item: int(item["id"]))
    if int(newest["size_in_bytes"]) > MOST_ZIPPED:
        raise HostileArtifactError("it is too large")
    return text_of(api.download(f"/repos/{repository}/actions/artifacts/{int(newest['id'])}/zip", MOST_ZIPPED))


def main() -> int:
    try:
        done = comment()
    except NothingToCommentError as error:
        tell("notice", f"no comment: {error}")
        done = "nothing to say"
    except HostileArtifactError as error:
        tell("warning", f"no comment: the artifact is not read: {error}")
        done = "refused"
    except ApiError as error:
        tell("warning", f"no comment: {error}")
        done = "failed"
    except (KeyError, TypeError, AttributeError):
        tell("warning", "no comment: the API answers something else than it should")
        done = "failed"
    except BadNameError as error:
        tell("error", str(error))
        return 2
    sys.stdout.write(f"comment: {done}\n")
    put(comment=done)
    return 0


if __name__ == "__main__":
    sys.exit(main())
