"""axe in a page: what keeps people from reading or using it."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

__all__ = ["assert_accessible"]

_AXE = Axe()


def assert_accessible(page: Page) -> None:
    """Fail if axe finds a violation of any impact in what the page shows now.

    Raises:
        AssertionError: it lists the violations with their elements.
    """
    results = _AXE.run(page)
    assert results.violations_count == 0, f"{page.url}\n{results.generate_report()}"
