"""Whether code owners of policies/ and of .github/ have approved exactly the commit that is judged.

    python approved.py CODEOWNERS >> "$GITHUB_OUTPUT"

CODEOWNERS is the base's. REPOSITORY, and either NUMBER and HEAD (a pull request and its commit) or QUEUE (the ref of a
merge group) come from the environment; `gh` has its token there. Standard output is `policies=true` and `judge=true`,
each where an owner of that folder has approved; the rest stands on standard error. What can't be read or asked means
that nobody has.

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
_FOLDERS = {"policies": "policies", "judge": ".github"}
_DECIDES = frozenset(("APPROVED", "CHANGES_REQUESTED", "DISMISSED"))
_SECONDS = 60


class NotApprovedError(Exception):
    """Why not."""


def owners(text: str, folder: str) -> list[str]:
    """Of all of a folder: the last line that is about it counts, as everywhere in such a file."""
    whole = {"*", *(f"{slash}{folder}{end}" for slash in ("", "/") for end in ("", "/", "/*", "/**"))}
    found: list[str] = []
    for line in text.splitlines():
        pattern, *names = line.partition("#")[0].split() or [""]
        if pattern in whole:
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


def approved_by(environment: dict[str, str]) -> list[str]:
    """Who has approved this commit, whoever that is. Raises NotApprovedError."""
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
    return approvers([review for page in pages for review in page], request["user"]["login"], now)


def judge(codeowners: Path, environment: dict[str, str]) -> dict[str, str]:
    """By what is approved, who did it. Raises NotApprovedError."""
    text = codeowners.read_text("utf-8") if codeowners.is_file() else ""
    found: dict[str, str] = {}
    names = approved_by(environment)
    for what, folder in _FOLDERS.items():
        known = owners(text, folder)
        for name in names:
            if name in known or any(is_member(team, name) for team in known if "/" in team):
                found[what] = name
                break
    return found


def main(arguments: list[str]) -> int:
    """Always 0: what is not approved is no failure of this step."""
    try:
        found = judge(Path(arguments[0]), dict(os.environ))
    except (NotApprovedError, OSError, ValueError, KeyError, TypeError, subprocess.TimeoutExpired) as error:
        reason = str(error) if isinstance(error, NotApprovedError) else type(error).__name__
        sys.stderr.write(f"not approved: {reason}\n")
        return 0
    for what, folder in _FOLDERS.items():
        said = f"approved by {found[what]}" if what in found else "no owner has approved exactly this commit"
        sys.stderr.write(f"{folder}/: {said}\n")
    sys.stdout.write("".join(f"{what}=true\n" for what in found))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
