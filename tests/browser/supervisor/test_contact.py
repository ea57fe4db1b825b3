"""A page whose overlord does not answer any more says so, and heals by itself."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.integration.overlords import Overlord, Overlords

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def overlord(_built: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Overlord]:
    """An overlord of its own, which leads also after it was frozen."""
    folder = tmp_path_factory.mktemp("contact")
    with Overlords(folder, f"sqlite:///{folder / 'metadata.db'}") as overlords:
        yield overlords.start_leader(TIDEGATE_LEASE_TTL="PT5M")


def test_a_lost_contact_is_said_and_heals(page: Page, overlord: Overlord) -> None:
    header = page.get_by_role("banner")
    page.goto("/ui/supervisors")
    expect(header.get_by_text("live", exact=True)).to_be_visible()
    page.evaluate("window.notReloaded = true")

    overlord.freeze()
    try:
        expect(header.get_by_text("stale since")).to_be_visible()
        expect(header.get_by_role("status")).to_contain_text("What is shown is old")
    finally:
        overlord.go_on()

    expect(header.get_by_text("live", exact=True)).to_be_visible()
    assert page.evaluate("window.notReloaded") is True
