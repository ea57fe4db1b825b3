"""What a page draws of the past: the lag of each row over a day, and the last hour by minute."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Locator, Page, expect
from pydantic import JsonValue

from supervisor.core.history.lag import Lag
from tests.browser.accessible import assert_accessible
from tests.browser.planted.conftest import Planted
from tests.integration.overlords import SUPERVISORS
from tests.waiting import wait_until

pytestmark = pytest.mark.process

_DAY = timedelta(days=1)
_STEP = timedelta(minutes=30)
"""Of the courses of the list; each point may be drawn so much earlier, or twice as much later."""


def _points(course: Locator) -> list[tuple[float, float]]:
    """Return (x, y) of each point of a drawn course, in percent of its box."""
    shape = str(course.evaluate("it => getComputedStyle(it).clipPath"))
    pairs = re.findall(r"([\d.]+)%? ([\d.]+)(?:%|px)", shape.removeprefix("polygon("))
    return [(float(x), float(y)) for x, y in pairs]


def test_behind_the_lag_of_a_row_is_its_course_over_a_day(page: Page, planted: Planted) -> None:
    """Goal: one request has the courses of all rows; one without samples has none."""
    for name in ("course-a", "course-b"):
        planted.apply(name)
    now = datetime.now(UTC)
    with planted.writing() as tx:
        for hours, records in ((20, 50), (12, 0), (2, 100)):
            lag = {"course-a": Lag(records, timedelta(seconds=5))}
            tx.watched.add_lag(now - timedelta(hours=hours), lag, now - 2 * _DAY)
    asked: list[str] = []
    page.on("request", lambda each: asked.append(each.url) if "/api/v1/lag?" in each.url else None)

    page.goto("/ui/supervisors?q=course-")

    rows = page.get_by_role("table", name="Supervisors").locator("tbody tr")
    expect(rows).to_have_count(2)
    course = rows.filter(has_text="course-a").locator("[class*=spark]")
    expect(course).to_be_visible()
    expect(course).to_have_attribute("aria-hidden", "true")
    expect(rows.filter(has_text="course-b").locator("[class*=spark]")).to_have_count(0)
    tops = {y: x for x, y in _points(course)}
    latest = 100 * (2 * _STEP) / _DAY
    for hours, top in ((20, 50.0), (2, 0.0)):
        place = 100 * (1 - timedelta(hours=hours) / _DAY)
        assert place - latest <= tops[top] <= place + latest, (hours, tops)
    assert {url.count("id=course-") for url in asked} == {2}, asked
    assert_accessible(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_minute_of_the_last_hour_lists_what_happened_in_it(
    page: Page, planted: Planted, scheme: str
) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    name = f"hour-{scheme}"
    planted.apply(name)
    planted.overlord.http.post(f"{SUPERVISORS}/{name}/suspend").raise_for_status()
    wait_until(lambda: bool(_suspended(planted, name)))
    [event] = _suspended(planted, name)
    minute = str(event["at"])[11:16]

    page.goto("/ui/")

    strip = page.get_by_role("region", name="Minutes of the last hour")
    bar = strip.get_by_role("button", name=re.compile(rf"^{minute} UTC: .*\d+ changes?"))
    expect(bar).to_have_attribute("aria-pressed", "false")
    bar.focus()
    page.keyboard.press("Enter")
    expect(bar).to_have_attribute("aria-pressed", "true")
    listed = page.get_by_role("region", name="The events of the minute")
    expect(listed.get_by_role("listitem").filter(has_text=name).first).to_be_visible()
    assert_accessible(page)
    bar.click()
    expect(listed).to_have_count(0)
    bar.click()
    listed.get_by_role("link", name=name).first.click()
    expect(page).to_have_url(re.compile(f"/ui/supervisors/{name}/"))


def _suspended(planted: Planted, name: str) -> list[dict[str, JsonValue]]:
    params = {"supervisor": name, "type": "supervisor-suspended"}
    answer = planted.overlord.http.get("/api/v1/events", params=params).raise_for_status()
    events: list[dict[str, JsonValue]] = answer.json()["events"]
    return events
