"""A real browser that reaches nothing, and the reports that it opens."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")


@dataclass
class Opened:
    """A page, what it asked the network for, and what the browser complained of."""

    page: object
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)


@pytest.fixture(scope="session")
def browser():
    """Debian's chromium, driven by playwright. Every request but that for the file itself fails."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip("the browser `chromium` is not on PATH")
    from playwright.sync_api import sync_playwright

    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=found, args=arguments)
        yield running
        running.close()


@pytest.fixture
def opened(browser, tmp_path):
    """Open the text of a report as a file."""

    @contextmanager
    def open_(text, *, width=1600, theme="light", fragment="", javascript=True):
        path = tmp_path / "report.html"
        path.write_text(text, "utf-8")
        address = path.as_uri()
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=theme,
            offline=True,
            java_script_enabled=javascript,
            bypass_csp=False,
        )
        page = context.new_page()
        found = Opened(page)
        page.on("request", lambda request: found.requests.append(request.url))
        page.on("console", lambda message: found.complaints.append(message.text))
        page.on("pageerror", lambda error: found.complaints.append(str(error)))
        try:
            page.goto(address + (f"#{fragment}" if fragment else ""))
            yield found
        finally:
            context.close()
        assert [url for url in found.requests if url.partition("#")[0] != address] == []

    return open_
