"""Whether a code owner of policies/ has approved exactly the commit that is judged.

    python approved.py CODEOWNERS >> "$GITHUB_OUTPUT"

CODEOWNERS is the base's. REPOSITORY, and either NUMBER and HEAD (a pull request and its commit) or QUEUE (the ref of a
merge group) come from the environment; `gh` has its token there. Standard output is `approved=true` or nothing; why
stands on standard error. Whatever can't be read or asked means: not approved.

An approval counts if it is the last word of an owner who did not write the pull request, and if it was given to this
very commit: who pushes afterwards needs another one. Owners are people (`@name`), or teams (`@organisation/team`) if
the token may see their members, which that of a workflow may not.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
_NUMBER = re.compile(r"[0-9]{1,9}")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_QUEUE = re.compile(r"refs/heads/gh-readonly-queue/.+/pr-(?P<number>[0-9]{1,9})-[0-9a-f]{40}", re.ASCII)
_OWNER = re.compile(r"@(?P<name>[\w-]+(?:/[\w.-]+)?)", re.ASCII)
_ALL_OF_IT = frozenset(
    ("*", "/policies", "policies", "/policies/", "policies/", "/policies/**", "policies/**", "/policies/*")
)
_DECIDES = frozenset(("APPROVED", "CHANGES_REQUESTED", "DISMISSED"))
_SECONDS = 60


class NotApprovedError(Exception):
    """Why not."""


def owners(text: str) -> list[str]:
    """Of all of policies/: the last line that is about it counts, as everywhere in such a file."""
    found: list[str] = []
    for line in text.splitlines():
        pattern, *names = line.partition("#")[0].split() or [""]
        if pattern in _ALL_OF_IT:
            found = [match["name"].lower() for name in names if (match := _OWNER.fullmatch(name))]
    return found


def ask(path: str, *options: str) -> Any:
    """What the API answers."""
    run = subprocess.run(["gh", "api", *options, path], capture_output=True, text=True, timeout=_SECONDS, check=False)
    if run.returncode:
        raise NotApprovedError(f"the API does not answer {path.partition('?')[0]}")
    return json.loads(run.stdout)


def approvers(reviews: list[dict[str, Any]], author: str, head: str) -> list[str]:
    """Who approved this commit, and has not said anything else since. `reviews` come oldest first."""
    last: dict[str, dict[str, Any]] = {}
    for review in reviews:
        if review["state"] in _DECIDES and review.get("user"):
            last[review["user"]["login"].lower()] = review
    return [
        name
        for name, review in last.items()
        if review["state"] == "APPROVED" and review["commit_id"] == head and name != author.lower()
    ]


def is_member(team: str, name: str) -> bool:
    organisation, _, slug = team.partition("/")
    try:
        return bool(ask(f"orgs/{organisation}/teams/{slug}/memberships/{name}")["state"] == "active")
    except NotApprovedError:
        return False


def judge(codeowners: Path, environment: dict[str, str]) -> str:
    """Who has approved. Raises NotApprovedError."""
    known = owners(codeowners.read_text("utf-8")) if codeowners.is_file() else []
    if not known:
        raise NotApprovedError(f"{codeowners.name} names no owner of policies/")
    repository, head = environment.get("REPOSITORY", ""), environment.get("HEAD", "")
    queue = _QUEUE.fullmatch(environment.get("QUEUE", ""))
    number = queue["number"] if queue else environment.get("NUMBER", "")
    if not _REPOSITORY.fullmatch(repository) or not _NUMBER.fullmatch(number):
        raise NotApprovedError("this is no pull request")
    request = ask(f"repos/{repository}/pulls/{number}")
    now = request["head"]["sha"]
    if (not queue and now != head) or not _COMMIT.fullmatch(now):
        raise NotApprovedError("the pull request has another commit by now")
    pages = ask(f"repos/{repository}/pulls/{number}/reviews?per_page=100", "--paginate", "--slurp")
    for name in approvers([review for page in pages for review in page], request["user"]["login"], now):
        if name in known or any(is_member(team, name) for team in known if "/" in team):
            return name
    raise NotApprovedError("no owner of policies/ has approved exactly this commit")


def main(arguments: list[str]) -> int:
    try:
        name = judge(Path(arguments[0]), dict(os.environ))
    except (NotApprovedError, OSError, ValueError, KeyError, TypeError, subprocess.TimeoutExpired) as error:
        reason = str(error) if isinstance(error, NotApprovedError) else type(error).__name__
        sys.stderr.write(f"not approved: {reason}\n")
        return 0
    sys.stderr.write(f"approved by {name}\n")
    sys.stdout.write("approved=true\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
