"""The console of an overlord without any supervisor: each page says what to do next."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.accessible import assert_accessible

pytestmark = pytest.mark.process


@pytest.mark.parametrize("path", ["/ui/", "/ui/supervisors"])
def test_an_empty_page_names_three_ways_to_begin(page: Page, path: str) -> None:
    page.goto(path)

    begin = page.get_by_role("region", name="No supervisor yet: three ways to begin")
    expect(begin.get_by_role("listitem")).to_have_count(3)
    expect(begin).to_contain_text("tidegate supervisor init")
    assert_accessible(page)


def test_without_a_worker_the_page_says_how_one_is_started(page: Page) -> None:
    page.goto("/ui/workers")

    begin = page.get_by_role("region", name="No worker is connected")
    expect(begin.get_by_text("tidegate worker", exact=True)).to_be_visible()
    expect(begin.get_by_text("tidegate doctor", exact=True)).to_be_visible()
    assert_accessible(page)


@pytest.mark.parametrize(
    ("path", "step"),
    [("flows", "tidegate flow apply my-flow.yaml"), ("executions", "Start one from its page")],
)
def test_without_a_flow_the_page_says_what_to_do(page: Page, path: str, step: str) -> None:
    page.goto(f"/ui/{path}")

    expect(page.get_by_text(step)).to_be_visible()
    assert_accessible(page)


def test_settings_say_who_calls_and_keep_what_is_chosen(page: Page) -> None:
    page.goto("/ui/settings")
    expect(page.get_by_role("region", name="You")).to_contain_text("asks nobody who they are")
    assert_accessible(page)

    expect(page.get_by_text("Kept in this browser.")).to_have_count(1)
    expect(page.get_by_role("region", name="Look and feel")).to_contain_text(
        "Kept in this browser."
    )
    expect(page.get_by_role("region", name="Overlord")).to_contain_text("the server of Tidegate")
    page.get_by_role("region", name="Look and feel").get_by_text("Dark", exact=True).click()
    page.get_by_role("region", name="Look and feel").get_by_text("UTC", exact=True).click()
    page.reload()

    expect(page.get_by_role("radio", name="Dark")).to_be_checked()
    assert page.evaluate("document.documentElement.dataset.mantineColorScheme") == "dark"
    stored = page.evaluate("JSON.parse(localStorage.getItem('tidegate:preferences')).zone")
    assert stored == "utc"


def test_an_address_of_no_page_says_so(page: Page) -> None:
    page.goto("/ui/no/such/page")

    expect(page.get_by_role("heading", level=1)).to_have_text("There is no such page")
    page.get_by_role("link", name="Go home").click()
    expect(page).to_have_url("/ui/")


def test_the_browser_keeps_its_cache_of_fonts_out_of_the_working_folder(page: Page) -> None:
    page.goto("/ui/")
    expect(page.get_by_role("heading", level=1)).to_be_visible()  # text has been drawn

    assert not Path("cache").exists()
