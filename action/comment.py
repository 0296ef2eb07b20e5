"""Keep one comment of the pull request current: the step of a run that may write there.

    python comment.py

COMMENT_FILE has the text; without one, or with an empty one, the comment is taken away. COMMENT_NAME tells comments of
several projects apart, TOKEN is the token. What can't be said is a warning: the comment decides nothing.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from github_api import Api, ApiError
from step import at, event, put, run_address, tell
from sticky_comment import BadNameError, StickyComment

_MOST_BYTES = 4 << 20


def text_of(path: str) -> str:
    if not path or not Path(path).is_file():
        return ""
    with Path(path).open("rb") as stream:
        return stream.read(_MOST_BYTES).decode("utf-8", "replace")


def comment() -> str:
    """What was done. Raises ApiError, BadNameError."""
    request = at(event(), "pull_request")
    number = at(request, "number")
    if not isinstance(number, int):
        return "no pull request"
    api = Api(os.environ["GITHUB_API_URL"], os.environ.get("TOKEN", ""))
    repository = os.environ["GITHUB_REPOSITORY"]
    now = api.ask("GET", f"/repos/{repository}/pulls/{number}")
    if at(now, "head", "sha") != at(request, "head", "sha"):
        return "another commit by now"
    sticky = StickyComment(api, repository, number, os.environ.get("COMMENT_NAME", ""))
    return sticky.say(text_of(os.environ.get("COMMENT_FILE", "")), f"All of it: {run_address()}")


def main() -> int:
    try:
        done = comment()
    except ApiError as error:
        hint = ""
        if error.status in (401, 403, 404):
            hint = (
                ". The token can't write there: the job needs `pull-requests: write`, and a pull request from a fork"
                " gets no such token: docs/github.md says how it is commented all the same"
            )
        tell("warning", f"no comment: {error}{hint}")
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
