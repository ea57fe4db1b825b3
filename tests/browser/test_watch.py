"""The watch over the browser sees what it is there for: each kind of trouble is planted once."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.accessible import assert_accessible
from tests.browser.watch import Watch
from tests.waiting import wait_until

pytestmark = pytest.mark.process

_POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src *; img-src * data:"
_PLANTED = "/ui/planted"


def _plant(page: Page, body: str, script: str = "") -> None:
    """Open a page of ours in the place of the console."""
    page.route(
        f"**{_PLANTED}.js", lambda route: route.fulfill(body=script, content_type="text/javascript")
    )
    page.route(
        f"**{_PLANTED}",
        lambda route: route.fulfill(
            body=f'<!doctype html><title>x</title><link rel=icon href="data:,">{body}'
            f'<script src="{_PLANTED}.js"></script>',
            content_type="text/html",
            headers={"Content-Security-Policy": _POLICY},
        ),
    )
    page.goto(_PLANTED)


@pytest.mark.parametrize(
    ("body", "script", "problem"),
    [
        ("", "console.error('planted 1')", "console error: planted 1"),
        ("", "console.warn('planted 2')", "console warning: planted 2"),
        ("", "setTimeout(() => { throw new Error('planted 3') })", "uncaught: .*planted 3"),
        ("", "Promise.reject(new Error('planted 4'))", "uncaught: .*planted 4"),
        ("<script>window.planted = 5</script>", "", "policy: script-src-elem refused inline"),
        ("<style>p { color: red }</style>", "", "policy: style-src-elem refused inline"),
        ("", "eval('6')", "policy: script-src refused eval"),
        (
            "",
            "fetch('https://foreign.example/7').catch(() => 7)",
            "foreign request: https://foreign.example/7",
        ),
        ("<img src=http://foreign.example/8.png>", "", "foreign request: http://foreign.example/8"),
        ("", "fetch('/ui/assets/planted-9.js')", "status: 404 GET /ui/assets/planted-9.js"),
    ],
)
def test_what_is_wrong_with_a_page_is_caught(
    page: Page, watch: Watch, body: str, script: str, problem: str
) -> None:
    _plant(page, body, script)
    _wait(page, lambda: any(re.search(problem, noted) for noted in watch.problems))

    with pytest.raises(AssertionError, match=problem):
        watch.check()


def _wait(page: Page, condition: Callable[[], bool]) -> None:
    """Wait for what the browser reports: its events arrive while the driver is used."""
    wait_until(lambda: page.evaluate("true") and condition())


def test_what_is_declared_is_let_pass(page: Page, watch: Watch) -> None:
    watch.expect_status(404, "/ui/assets/declared")
    watch.expect_console("declared")

    _plant(page, "", "console.error('declared'); fetch('/ui/assets/declared.js')")
    _wait(page, lambda: not watch.missing())

    watch.check()


def test_what_is_declared_has_to_come(page: Page, watch: Watch) -> None:
    watch.expect_status(404, "/ui/assets/none")
    _plant(page, "")

    with pytest.raises(AssertionError, match="expected, but not seen"):
        watch.check()


def test_a_page_that_some_cannot_read_is_caught(page: Page) -> None:
    _plant(page, "<main><h1>x</h1><img src='data:,'></main>")
    expect(page.locator("h1")).to_be_visible()

    with pytest.raises(AssertionError, match="image-alt"):
        assert_accessible(page)
