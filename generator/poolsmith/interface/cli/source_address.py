"""Where the files of the repository can be read, as the environment says it."""

from __future__ import annotations

import os
import re

_ADDRESS = re.compile(r"https://[A-Za-z0-9\[\]][A-Za-z0-9._~:/?#\[\]@!$&()*+,;=%-]*")
_FORGES = (
    ("{GITHUB_SERVER_URL}/{GITHUB_REPOSITORY}/blob/{GITHUB_SHA}", "GITHUB_ACTIONS"),
    ("{CI_PROJECT_URL}/-/blob/{CI_COMMIT_SHA}", "GITLAB_CI"),
)
"""The address of the top folder at the commit that is built, and the variable that is true there."""


def source_address() -> str:
    """As POOLSMITH_SOURCE says; else as GitHub Actions or GitLab CI do; else empty."""
    if "POOLSMITH_SOURCE" in os.environ:
        return _plain(os.environ["POOLSMITH_SOURCE"])
    for form, is_here in _FORGES:
        names = re.findall(r"\{(\w+)\}", form)
        if os.environ.get(is_here) == "true" and all(map(os.environ.get, names)):
            return _plain(form.format_map(os.environ))
    return ""


def _plain(text: str) -> str:
    address = text.rstrip("/")
    return address if _ADDRESS.fullmatch(address) else ""
