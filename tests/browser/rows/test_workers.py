"""The pages of workers: slots, what a worker says of itself, and taking it out and back."""

from importlib.metadata import version

import pytest
from playwright.sync_api import Page, expect

from tests.browser.accessible import assert_accessible
from tests.browser.rows.conftest import Published
from tests.browser.watch import Watch
from tests.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.spark, pytest.mark.kafka]


def _worker(published: Published) -> str:
    [row] = published.cluster.http.get("/api/v1/workers").json()
    name = row["id"]
    assert isinstance(name, str)
    return name


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_worker_is_shown_with_its_release_and_its_tasks(
    page: Page, published: Published, scheme: str
) -> None:
    name = _worker(published)
    path = f"/api/v1/workers/{name}"
    wait_until(lambda: bool(published.cluster.http.get(path).json()["memory"]))
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.goto("/ui/workers")
    row = page.get_by_role("table", name="Workers").locator("tbody tr")
    expect(row).to_have_count(1)
    for text in ("alive", version("tidegate"), " of "):
        expect(row).to_contain_text(text)
    expect(page.get_by_text("Slots needed")).to_be_visible()
    assert_accessible(page)

    row.get_by_role("link", name=name).click()

    expect(page.get_by_role("heading", level=1)).to_have_text(name)
    process = page.get_by_role("region", name="Process")
    expect(process).to_contain_text("local[")
    expect(process).to_contain_text(version("tidegate"))
    expect(page.get_by_text("at most")).to_be_visible()
    tasks = page.get_by_role("region", name="Tasks")
    expect(tasks.get_by_role("link", name=published.id, exact=True)).to_be_visible()
    expect(tasks).to_contain_text("READING")
    assert_accessible(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


def test_a_worker_is_taken_out_and_brought_back(page: Page, published: Published) -> None:
    """Goal: the dialog shows its effect first, and what it does can be seen and undone there."""
    path = f"/api/v1/workers/{_worker(published)}"
    page.goto("/ui/workers")
    page.keyboard.press("g")
    page.keyboard.press("w")
    row = page.get_by_role("table", name="Workers").locator("tbody tr")
    row.get_by_role("button", name="Take out…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("tidegate worker disable")).to_be_visible()
    assert_accessible(page)

    dialog.get_by_role("button", name="Take out", exact=True).click()

    expect(row).to_contain_text("taken out")
    assert published.cluster.http.get(path).json()["disabled"] is True
    row.get_by_role("button", name="Bring back…").click()
    page.get_by_role("dialog").get_by_role("button", name="Enable", exact=True).click()
    expect(row).to_contain_text("alive")
    assert published.cluster.http.get(path).json()["disabled"] is False


def test_a_worker_that_is_not_there_says_so(page: Page, published: Published, watch: Watch) -> None:
    watch.expect_status(404, "/api/v1/workers/nobody")
    page.goto("/ui/workers/nobody")

    expect(page.get_by_role("alert")).to_contain_text("or you may not read it")
    assert published.id
