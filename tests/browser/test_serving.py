"""The console as an overlord serves it: it loads, whatever its address, and in no frame."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.watch import Watch
from tests.integration.overlords import Overlord

pytestmark = pytest.mark.process

_A_WORD = re.compile(r"\w")


def _expect_the_app(page: Page) -> None:
    """Wait until the app shows something; before, the root is empty."""
    expect(page.locator("#root")).to_contain_text(_A_WORD, use_inner_text=True)


def test_it_loads_and_the_policy_has_nothing_to_report(page: Page) -> None:
    answer = page.goto("/ui/")

    assert answer is not None
    assert answer.status == 200
    policy = answer.header_value("Content-Security-Policy") or ""
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self' 'nonce-")
    assert "unsafe" not in policy
    _expect_the_app(page)
    styles = page.locator("style").evaluate_all("each => each.map((style) => style.nonce)")
    nonce = re.search(r"'nonce-([^']+)'", policy)
    assert nonce is not None
    assert set(styles) <= {nonce[1]}, "a style sheet without the nonce"


def test_the_overlord_s_address_leads_to_it(page: Page, overlord: Overlord) -> None:
    page.goto("/")

    _expect_the_app(page)
    assert page.url.startswith(f"{overlord.url}/ui/")


def test_any_address_of_it_can_be_opened_and_reloaded(page: Page, overlord: Overlord) -> None:
    address = f"{overlord.url}/ui/supervisors?q=orders"
    page.goto(address)
    _expect_the_app(page)

    page.reload()

    _expect_the_app(page)
    assert page.url.startswith(f"{overlord.url}/ui/supervisors")


def test_its_page_names_the_build_that_the_overlord_serves(page: Page) -> None:
    answer = page.goto("/ui/")

    assert answer is not None
    named = page.locator('meta[name="tidegate-build"]').get_attribute("content")
    assert named
    assert named == answer.header_value("X-Tidegate-Console-Build")


def test_a_file_of_another_build_is_not_there(page: Page, watch: Watch) -> None:
    watch.expect_status(404, "/ui/assets/index-00000000.js")

    answer = page.goto("/ui/assets/index-00000000.js")

    assert answer is not None
    assert answer.status == 404


def test_it_is_refused_in_a_frame(page: Page, watch: Watch, overlord: Overlord) -> None:
    watch.expect_console("frame-ancestors 'none'")
    page.route(
        "**/ui/framing",
        lambda route: route.fulfill(
            body=f'<!doctype html><iframe src="{overlord.url}/ui/"></iframe>',
            content_type="text/html",
        ),
    )

    page.goto("/ui/framing")

    assert page.frames[1].locator("#root").count() == 0
