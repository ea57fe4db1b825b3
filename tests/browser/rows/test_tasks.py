"""Tasks: the list, and one task with its offsets, log, report and payload."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, Route, expect
from pydantic import JsonValue

from supervisor.dev.broker import Broker
from tests.browser.accessible import assert_accessible
from tests.browser.rows.conftest import Published
from tests.browser.watch import Watch
from tests.environment.brokers import create_topic
from tests.integration.cluster import Cluster
from tests.integration.oracle import spec
from tests.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.kafka, pytest.mark.spark]

_LINES = 100_000
_NODES_MAX = 2_500
_UNBOUNDED = "9223372036854775807"


def _tasks(cluster: Cluster, **query: str) -> list[dict[str, JsonValue]]:
    answer = cluster.http.get("/api/v1/tasks", params=query).raise_for_status()
    rows: list[dict[str, JsonValue]] = answer.json()["tasks"]
    return rows


def _ids(cluster: Cluster, **query: str) -> list[str]:
    return [str(row["id"]) for row in _tasks(cluster, **query)]


def _numbers(table: Locator) -> list[list[str]]:
    """Return the texts of a table's cells, row by row, without the signs between digits."""
    rows = table.locator("tbody tr").all()
    return [[cell.replace(",", "") for cell in row.locator("td").all_inner_texts()] for row in rows]


@pytest.fixture(scope="module")
def own(cluster: Cluster, broker: Broker) -> str:
    """A supervisor that waits for records in vain; its task may be ended, its log written to."""
    name = "taps"
    create_topic(broker.bootstrap, name)
    cluster.apply(spec(broker.bootstrap, name, task_count=1, task_duration="PT1H"))
    wait_until(lambda: any(row["runnerStatusCode"] == "RUNNING" for row in _active(cluster, name)))
    return name


def _active(cluster: Cluster, supervisor: str) -> list[dict[str, JsonValue]]:
    return _tasks(cluster, supervisor=supervisor, status="RUNNING")


def _log_of(cluster: Cluster, task: str) -> Path:
    return cluster.folder / "w1" / "task-logs" / f"{task}.log"


def test_the_list_is_what_its_address_says(page: Page, published: Published) -> None:
    page.goto("/ui/tasks")
    rows = page.get_by_role("table", name="Tasks").locator("tbody tr")
    [running] = _ids(published.cluster, supervisor=published.id, status="RUNNING")
    expect(page.get_by_role("link", name=running)).to_be_visible()

    page.get_by_role("textbox", name="Supervisor").fill(published.id)
    page.get_by_role("button", name="Succeeded").click()

    expect(page).to_have_url(re.compile(f"state=succeeded.*supervisor={published.id}"))
    ended = _ids(published.cluster, supervisor=published.id, status="SUCCESS")
    expect(rows).to_have_count(len(ended))
    assert [row.locator("a").first.inner_text() for row in rows.all()] == ended
    page.reload()
    expect(rows).to_have_count(len(ended))
    page.get_by_role("link", name=ended[0]).click()
    expect(page).to_have_url(re.compile(f"/ui/tasks/{ended[0]}/summary"))
    expect(page.get_by_text("It succeeded after")).to_be_visible()

    page.goto(f"/ui/supervisors/{published.id}/tasks?q=nothing-has-it")
    expect(page.get_by_text("No running or pending task fits the filters.")).to_be_visible()
    page.get_by_role("button", name="Clear filters").click()
    expect(rows).to_have_count(1)


@pytest.mark.usefixtures("own")
def test_tasks_are_in_groups_with_their_numbers(page: Page, published: Published) -> None:
    """Goal: the address has the grouping and what is unfolded; keys alone fold and unfold."""
    ended = _ids(published.cluster, supervisor=published.id, status="SUCCESS")
    page.goto("/ui/tasks?state=all")
    rows = page.get_by_role("table", name="Tasks").locator("tbody tr")
    expect(page.get_by_role("link", name=ended[0])).to_be_visible()

    page.get_by_role("combobox", name="Groups").select_option("by supervisor")

    expect(page).to_have_url(re.compile("by=supervisor"))
    head = rows.filter(has=page.get_by_role("button", name=f"Tasks of supervisor {published.id}"))
    expect(head).to_contain_text(f"{len(ended) + 1} tasks · 1 running · {len(ended)} succeeded")
    expect(rows.filter(has=page.get_by_role("rowheader"))).to_have_count(rows.count())
    expect(page.get_by_role("link", name=ended[0])).to_have_count(0)
    assert_accessible(page)

    fold = head.get_by_role("button")
    fold.focus()
    page.keyboard.press("Enter")

    expect(page.get_by_role("link", name=ended[0])).to_be_visible()
    expect(page).to_have_url(re.compile(f"unfolded={published.id}"))
    page.reload()
    expect(page.get_by_role("link", name=ended[0])).to_be_visible()
    expect(fold).to_have_attribute("aria-expanded", "true")
    page.emulate_media(color_scheme="dark")
    assert_accessible(page)
    head.click(position={"x": 600, "y": 10})  # beside its button and its link
    page.keyboard.press("o")
    expect(fold).to_have_attribute("aria-expanded", "false")
    expect(page).not_to_have_url(re.compile("unfolded="))

    page.goto(f"/ui/supervisors/{published.id}/tasks?state=all&by=generation")
    expect(rows).to_have_count(len(ended) + 1)
    page.goto("/ui/tasks?by=worker")
    expect(rows.first).to_contain_text(re.compile("w1.*running"))


def test_groups_say_which_tasks_they_are_of(page: Page, published: Published) -> None:
    """Goal: a group has the tasks that are loaded; the page says so, and loads more at a click."""

    [newest, *_] = _tasks(published.cluster, supervisor=published.id, status="SUCCESS")

    def first_alone(route: Route) -> None:
        is_further = "cursor=" in route.request.url
        page_of_one = {"tasks": [newest], "next": "further"}
        route.fulfill(json={"tasks": [], "next": None} if is_further else page_of_one)

    page.route("**/api/v1/tasks?*", first_alone)
    page.goto(f"/ui/tasks?by=supervisor&state=succeeded&supervisor={published.id}")
    note = page.get_by_text("Of the newest 1 task: older ones are not counted.")
    expect(note).to_be_visible()

    page.get_by_role("button", name="Load more").click()

    expect(note).to_have_count(0)
    expect(page.get_by_text("1 task · 1 succeeded")).to_be_visible()


def test_the_offsets_of_a_task_are_those_of_the_api(page: Page, published: Published) -> None:
    [running] = _ids(published.cluster, supervisor=published.id, status="RUNNING")
    committed = published.cluster.status(published.id)["committedOffsets"]
    assert isinstance(committed, dict)
    table = page.get_by_role("table", name="Offsets")

    page.goto(f"/ui/tasks/{running}/summary")
    expect(table.locator("tbody tr").first.locator("td").nth(4)).to_have_text("0")
    assert [row[:3] for row in _numbers(table)] == [
        [partition, str(at), str(at)] for partition, at in sorted(committed.items())
    ]

    [newest, *_] = _ids(published.cluster, supervisor=published.id, status="SUCCESS")
    page.goto(f"/ui/tasks/{newest}/summary")
    expect(page.get_by_role("table", name="Attempts").get_by_text("this one")).to_be_visible()
    ends = [[row[2], row[3]] for row in _numbers(table)]
    assert ends == [[str(at), str(at)] for _, at in sorted(committed.items())]
    expect(page.get_by_text("published").first).to_be_visible()

    page.goto(f"/ui/tasks/{running}/payload")
    payload = page.get_by_role("region", name="JSON of the payload")
    expect(payload).to_contain_text(f'"0": {_UNBOUNDED}')


def test_a_log_is_followed_searched_and_saved(
    page: Page, cluster: Cluster, own: str, watch: Watch
) -> None:
    """Goal: a log of many lines needs few nodes of the page, and none of its bytes is changed."""
    [task] = [str(row["id"]) for row in _active(cluster, own)]
    log = _log_of(cluster, task)
    page.goto(f"/ui/tasks/{task}/log")
    lines = page.get_by_role("region", name="Lines of the log")
    follow = page.get_by_role("button", name="Follow")
    expect(lines.get_by_text("it reads").first).to_be_visible()

    many = range(_LINES)
    with log.open("ab") as file:
        file.write(b"2026-01-05T12:00:00Z ERROR   the first error \x1b[31mred\x1b[0m \x07 sign\n")
        file.writelines(b"2026-01-05T12:00:00Z INFO    line %d of many\n" % n for n in many)
        file.write(b"2026-01-05T12:00:00Z ERROR   the last error\n    with a trace\n")
    expect(lines.get_by_text("with a trace")).to_be_visible()
    number = len(log.read_text().splitlines())

    assert page.locator("*").count() <= _NODES_MAX
    lines.hover()
    page.mouse.wheel(0, -3_000)
    expect(follow).to_have_attribute("aria-pressed", "false")
    with log.open("ab") as file:
        file.write(b"2026-01-05T12:00:00Z WARNING it has come later\n")
    expect(page.get_by_text(f"{number + 1:,} lines")).to_be_visible()
    expect(lines.get_by_text("it has come later")).to_have_count(0)
    follow.click()
    expect(lines.get_by_text("it has come later")).to_be_visible()

    page.get_by_role("textbox", name="Search in the loaded lines").fill("LINE 4999")
    expect(page.get_by_text("11 hits")).to_be_visible()
    page.get_by_role("button", name="Next hit").click()
    expect(page.get_by_text("1 of 11")).to_be_visible()
    expect(lines.locator("mark").first).to_have_text("line 4999")
    page.get_by_role("button", name="First error").click()
    expect(lines.get_by_text("the first error red ⟨U+0007⟩ sign")).to_be_visible()

    place = log.read_text().splitlines().index("2026-01-05T12:00:00Z INFO    line 77 of many") + 1
    page.goto(f"/ui/tasks/{task}/log#L{place}")
    page.reload()
    expect(lines.locator("[data-target=true]")).to_contain_text("line 77 of many")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    assert Path(download.value.path()).read_bytes() == log.read_bytes()

    watch.expect_status(404, f"/druid/indexer/v1/task/{task}/log")
    log.unlink()
    expect(page.get_by_text("or you may not read it")).to_be_visible()
    expect(lines.locator("[data-target=true]")).to_contain_text("line 77 of many")


def test_a_log_of_which_the_store_has_a_part_says_what_is_missing(
    page: Page, cluster: Cluster, own: str
) -> None:
    [task] = [str(row["id"]) for row in _active(cluster, own)]
    missing = "7 bytes, up to 2026-01-05T12%3A00%3A00Z, are stored; the rest is at worker w%C3%A9"

    def answer(route: Route) -> None:
        headers = {
            "X-Tidegate-Log-Start": "0",
            "X-Tidegate-Log-Size": "7",
            "X-Tidegate-Log-Missing": missing,
        }
        route.fulfill(status=200, headers=headers, content_type="text/plain", body="a line\n")

    page.route(f"**/druid/indexer/v1/task/{task}/log*", answer)
    page.goto(f"/ui/tasks/{task}/log")

    note = page.get_by_text("The log is not all here: 7 bytes, up to")
    expect(note).to_contain_text("are stored; the rest is at worker wé")
    expect(page.get_by_role("region", name="Lines of the log")).to_contain_text("a line")


def test_a_task_that_somebody_ends_says_why(page: Page, cluster: Cluster, own: str) -> None:
    [task] = [str(row["id"]) for row in _active(cluster, own)]
    page.goto(f"/ui/tasks/{task}/report")
    page.get_by_role("button", name="End task…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("tidegate task stop")).to_be_visible()

    dialog.get_by_role("button", name="End task", exact=True).click()

    expect(page.get_by_text("It failed after")).to_be_visible()
    page.goto(f"/ui/supervisors/{own}/tasks?state=failed")
    reason = str(_tasks(cluster, supervisor=own, status="FAILED")[0]["reason"])
    row = page.get_by_role("table", name="Tasks").locator("tbody tr").filter(has_text=task)
    expect(row).to_contain_text(reason)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_anybody_can_read_and_use_the_pages(page: Page, published: Published, scheme: str) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    [running] = _ids(published.cluster, supervisor=published.id, status="RUNNING")
    ended = _ids(published.cluster, supervisor=published.id, status="SUCCESS")[-1]
    places = {
        "tasks?state=all": running,
        "tasks?worker=nobody": "fits the filters",
        f"supervisors/{published.id}/tasks": running,
        f"tasks/{running}/summary": "this one",
        f"tasks/{ended}/log?find=batch&level=warnings": "lines",
        f"tasks/{ended}/report": "Records that became no row",
        f"tasks/{running}/payload": _UNBOUNDED,
    }
    for place, text in places.items():
        page.goto(f"/ui/{place}")
        expect(page.get_by_text(text).first).to_be_visible()
        expect(page.get_by_role("status", name="Loading")).to_have_count(0)
        assert_accessible(page)
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= 1280, f"{place} is {width} px wide"
