"""Every page while it loads and when nothing comes, and the parts of the frame: for everybody.

Slow: axe looks at thirty pages, each in two states.
"""

import re

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.accessible import assert_accessible
from tests.browser.planted.conftest import Planted
from tests.browser.watch import Watch

pytestmark = [pytest.mark.process, pytest.mark.long]

_ANSWERS = re.compile(r"/(api|druid)/(?!v1/me$)")
_SUPERVISOR, _TASK, _TABLE = "/ui/supervisors/some", "/ui/tasks/some", "/ui/tables/some"
_PLACES = (
    "/ui/",
    "/ui/supervisors",
    *(
        f"{_SUPERVISOR}/{tab}"
        for tab in (
            "overview",
            "partitions",
            "timeline",
            "why",
            "spec",
            "history",
            "bad-records",
            "tasks",
            "events",
        )
    ),
    "/ui/tasks",
    *(f"{_TASK}/{tab}" for tab in ("summary", "log", "report", "payload")),
    "/ui/tables",
    *(
        f"{_TABLE}/{tab}"
        for tab in ("summary", "coverage", "time", "files", "exports", "rules", "code")
    ),
    "/ui/flows",
    "/ui/flows/some",
    "/ui/executions",
    "/ui/executions/some:one",
    "/ui/workers",
    "/ui/workers/some",
    "/ui/queues",
    "/ui/queues/supervisor:some/task-files",
    "/ui/work",
    "/ui/logs/dead-letters",
    "/ui/audit",
    "/ui/audit/denied",
    "/ui/logs",
    "/ui/logs/reports",
)


def test_each_page_while_it_loads_and_when_nothing_comes(page: Page, watch: Watch) -> None:
    watch.expect_console("net::ERR_CONNECTION_REFUSED")
    held: list[Route] = []
    is_refused = False

    def answer(route: Route) -> None:
        if is_refused:
            route.abort("connectionrefused")
        else:
            held.append(route)

    page.route(_ANSWERS, answer)
    for place in _PLACES:
        is_refused = False
        page.emulate_media(color_scheme="light")
        page.goto(place)
        content = page.get_by_role("main")
        expect(content.get_by_role("status", name="Loading").first).to_be_visible()
        assert_accessible(page)

        is_refused = True
        for route in held:
            route.abort("connectionrefused")
        held.clear()

        page.emulate_media(color_scheme="dark")
        expect(content.get_by_role("alert").first).to_be_visible()
        expect(content.get_by_role("button", name="Try again").first).to_be_visible()
        assert_accessible(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_parts_of_the_frame(page: Page, planted: Planted, scheme: str) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    planted.apply(f"framed-{scheme}", reason="to be seen")
    page.goto("/ui/")
    expect(
        page.get_by_role("region", name="Needs somebody").get_by_role("listitem").first
    ).to_be_visible()
    assert_accessible(page)

    page.keyboard.press("Control+k")
    search = page.get_by_role("textbox", name="Search")
    search.fill("framed")
    expect(page.get_by_role("dialog")).to_contain_text(f"topic framed-{scheme}")
    assert_accessible(page)
    page.keyboard.press("Escape")
    expect(search).to_have_count(0)

    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    assert_accessible(page)
    page.keyboard.press("Escape")
    _opens(page, page.get_by_role("button", name=re.compile("operation")), "dialog")
    _opens(page, page.get_by_role("banner").get_by_role("button").last, "menu")

    page.goto("/ui/supervisors")
    page.get_by_label(f"Select framed-{scheme}").check()
    expect(page.get_by_role("toolbar")).to_be_visible()
    assert_accessible(page)
    _opens(page, page.get_by_role("button", name="Columns"), "dialog")
    page.goto("/ui/settings")
    expect(page.get_by_role("region", name="You")).to_be_visible()
    assert_accessible(page)
    page.goto("/ui/no/such/page")
    expect(page.get_by_role("heading", level=1)).to_have_text("There is no such page")
    assert_accessible(page)


def _opens(page: Page, button: Locator, role: str) -> None:
    """Fail unless a button opens what everybody can use, and Escape brings the focus back."""
    button.click()
    opened = page.get_by_role("menu" if role == "menu" else "dialog")
    expect(opened).to_be_visible()
    assert_accessible(page)
    page.keyboard.press("Escape")
    expect(opened).to_have_count(0)
    expect(button).to_be_focused()
