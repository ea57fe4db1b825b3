"""Where flows run in the database there are no executors, and the pages say that and why."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.accessible import assert_accessible

pytestmark = pytest.mark.process


@pytest.mark.parametrize("path", ["/ui/executors", "/ui/executors/dead-inputs?input=3"])
def test_there_is_nothing_to_own_in_the_database(page: Page, path: str) -> None:
    """The watch fails on an answer of 404: what is not there is not asked for."""
    page.goto(path)

    expect(page.get_by_role("region", name="Nothing to own")).to_contain_text(
        "the overlord that leads works each execution by itself"
    )
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert_accessible(page)
