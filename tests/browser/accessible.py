"""axe in a page: what keeps people from reading or using it."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

__all__ = ["assert_accessible"]

_AXE = Axe()
_SETTLED = """async () => {
  for (let frame = 0; frame < 2; frame += 1) {
    await new Promise(requestAnimationFrame);
  }
  const ending = document.getAnimations().filter(
    (each) => each.effect?.getComputedTiming().endTime !== Infinity
  );
  await Promise.allSettled(ending.map((each) => each.finished));
}"""
"""Colours are of one scheme, and whatever fades has faded: half-way they have no contrast."""


def assert_accessible(page: Page) -> None:
    """Fail if axe finds a violation of any impact in what the page shows now.

    Raises:
        AssertionError: it lists the violations with their elements.
    """
    page.evaluate(_SETTLED)
    results = _AXE.run(page)
    assert results.violations_count == 0, f"{page.url}\n{results.generate_report()}"
