"""Executors on their page: who is there, what each makes, and inputs that nobody could work in.

Slow: an overlord that asks who calls starts, and an executor with its topics on the broker.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from supervisor.dev.broker import Broker
from tests.browser.accessible import assert_accessible
from tests.browser.hostile.payloads import PAYLOADS
from tests.browser.persisters.on_kafka import CALLING, GONE, OnKafka, flows_on_kafka
from tests.browser.test_login import REQUIRED, create_token, log_in
from tests.browser.watch import Watch
from tests.integration.overlords import Overlord
from tests.waiting import HANGS_AFTER_S

pytestmark = [pytest.mark.process, pytest.mark.kafka]
expect.set_options(timeout=HANGS_AFTER_S * 1_000)

_PAGE, _DEAD = "/ui/executors", "/ui/executors/dead-inputs"
_CLUSTER = {"viewer": "*", "operator": "*", "admin": "*"}
_HOSTILE = f"no json {PAYLOADS[0]}"
_WIDTHS = (1280, 390)


@pytest.fixture(scope="module")
def tokens(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A token of each role on everything, and one of a viewer of one table."""
    folder = tmp_path_factory.mktemp("executors")
    url = f"sqlite:///{folder / 'metadata.db'}"
    tokens = {role: create_token(folder, url, role, role, on) for role, on in _CLUSTER.items()}
    stranger = create_token(folder, url, "stranger", "viewer", "orders")
    return tokens | {"stranger": stranger, "folder": str(folder)}


@pytest.fixture(scope="module")
def flows(_built: None, broker: Broker, tokens: dict[str, str]) -> Iterator[OnKafka]:
    """All of it, for an overlord that asks who calls."""
    admin = tokens["admin"]
    more = {**REQUIRED, "TIDEGATE_TOKEN": ""}
    folder = Path(tokens["folder"])
    with flows_on_kafka(folder, broker.bootstrap, "executors.console.", more, admin) as all_:
        yield all_


@pytest.fixture(scope="module")
def overlord(flows: OnKafka) -> Overlord:
    """The overlord of these tests."""
    return flows.overlord


def _enter(page: Page, watch: Watch, tokens: dict[str, str], role: str, path: str = _PAGE) -> None:
    watch.expect_status(401, "/api/v1/me")
    page.goto(path)
    log_in(page, tokens[role])
    expect(page.get_by_role("button", name=role)).to_be_visible()


def _row(page: Page, table: str, text: str) -> Locator:
    return page.get_by_role("table", name=table).locator("tbody tr").filter(has_text=text)


def _fits(page: Page) -> None:
    for width in _WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        page.wait_for_function("document.documentElement.scrollWidth <= innerWidth")
        page.wait_for_function(
            "(it => it.scrollWidth <= it.clientWidth)(document.querySelector('#content > .ages'))"
        )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_each_executor_shows_what_it_works_what_it_makes_and_since_when_it_is_silent(
    page: Page, watch: Watch, tokens: dict[str, str], scheme: str
) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    _enter(page, watch, tokens, "viewer", "/ui/executions")
    page.get_by_role("main").get_by_role("link", name="Executors").click()

    ours = _row(page, "Executors", "executor-1")
    expect(ours).to_contain_text("running")
    expect(ours).to_contain_text("0-7")
    expect(ours).to_contain_text(re.compile(r"attempt \d+"))
    gone = _row(page, "Executors", GONE.name)
    expect(gone).to_contain_text(re.compile(r"silent for \d+ \w"))
    expect(gone).to_contain_text("6, 7")
    expect(
        page.get_by_text(re.compile("on Kafka · 1 executor · 1 silent · 8 partitions"))
    ).to_be_visible()
    partitions = page.get_by_role("table", name="Partitions").locator("tbody tr")
    expect(partitions).to_have_count(8)
    expect(partitions.filter(has_text="executor-1")).to_have_count(8)
    assert_accessible(page)
    _fits(page)
    assert_accessible(page)

    ours.get_by_role("link", name=CALLING).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(CALLING)


def test_dead_inputs_are_read_replayed_and_dropped_and_home_leads_to_them(
    page: Page, watch: Watch, flows: OnKafka, tokens: dict[str, str]
) -> None:
    flows.spoil(_HOSTILE, "day:mon", "day:tue")
    _enter(page, watch, tokens, "admin", "/ui/")
    item = page.get_by_role("listitem").filter(has_text="could not be worked in")
    item.get_by_role("button", name="See why, then replay or drop them").click()
    rows = page.get_by_role("table", name="Dead inputs").locator("tbody tr")
    newest = rows.first
    expect(newest).to_contain_text("day:tue")
    waiting = rows.count()
    name = newest.get_by_role("button").first.inner_text()
    newest.get_by_role("button").first.click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Text")).to_contain_text(PAYLOADS[0])
    expect(dialog).to_contain_text("partition 0 of the history")
    expect(page).to_have_url(re.compile(rf"input={name}"))
    assert_accessible(page)

    dialog.get_by_role("button", name="Drop…").click()
    form = page.get_by_role("dialog", name=re.compile("^Drop"))
    expect(form.get_by_text(f"tidegate execution dead drop {name}")).to_be_visible()
    expect(form).to_contain_text("for day:tue could not be worked in")
    form.get_by_label(re.compile("^Reason")).fill("a test")
    form.get_by_label(re.compile(f"^Type {name}")).fill(name)
    assert_accessible(page)
    form.get_by_role("button", name="Drop", exact=True).click()
    expect(page.get_by_text(f"The dead input {name} is dropped.")).to_be_visible()
    expect(rows).to_have_count(waiting - 1)

    rows.first.get_by_role("button", name="Replay…").click()
    dialog.get_by_role("button", name="Replay", exact=True).click()
    expect(page.get_by_text(re.compile(r"The dead input \d+ was sent once more"))).to_be_visible()
    page.get_by_role("button", name="Also handled ones").click()
    expect(rows.filter(has_text="sent again, admin").first).to_be_visible()
    expect(rows.filter(has_text="dropped, admin").first).to_be_visible()
    _fits(page)
    assert_accessible(page)
    page.goto("/ui/audit")
    expect(page.get_by_role("table", name="Changes")).to_contain_text("drop-dead-input")


@pytest.mark.parametrize(
    ("role", "verb", "permission"),
    [("viewer", "Replay…", "replay"), ("operator", "Drop…", "queue-repair")],
)
def test_who_may_not_sees_what_is_missing(
    page: Page,
    watch: Watch,
    flows: OnKafka,
    tokens: dict[str, str],
    *,
    role: str,
    verb: str,
    permission: str,
) -> None:
    flows.spoil(_HOSTILE, f"day:{role}")
    _enter(page, watch, tokens, role, _DEAD)
    button = _row(page, "Dead inputs", f"day:{role}").get_by_role("button", name=verb)
    expect(button).to_have_attribute("aria-disabled", "true")
    button.hover()
    expect(page.get_by_role("tooltip")).to_contain_text(
        f"Needs the permission {permission} on the whole cluster"
    )


def test_who_reads_one_table_alone_sees_no_executor_and_asks_for_none(
    page: Page, watch: Watch, tokens: dict[str, str]
) -> None:
    """The watch fails on an answer of 403."""
    _enter(page, watch, tokens, "stranger", f"{_DEAD}?input=1")
    expect(page.get_by_text("You may not read flows")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.goto(_PAGE)
    expect(page.get_by_text("You may not read flows")).to_be_visible()


@pytest.mark.parametrize("kind", ["executor", "kafka"])
def test_a_wait_for_executors_leads_to_them(
    page: Page, watch: Watch, tokens: dict[str, str], kind: str
) -> None:
    """An executor works each execution in at once: so the answer is changed."""

    def waiting(route: Route) -> None:
        answer = route.fetch()
        document = answer.json()
        wait = {"kind": kind, "what": "somebody", "since": document["createdAt"]}
        wait |= {"until": None, "step": None, "run": None, "holders": []}
        route.fulfill(response=answer, json={**document, "waitsFor": [wait]})

    page.route(f"**/api/v1/executions/{CALLING}", waiting)
    page.route(f"**/api/v1/executions/{CALLING.replace(':', '%3A')}", waiting)
    _enter(page, watch, tokens, "viewer", f"/ui/executions/{CALLING}")
    waits = page.get_by_role("region", name="What it waits for")
    waits.get_by_role("link", name="executors").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Executors")


def test_nobody_works_a_partition_whose_executor_is_silent(
    page: Page, watch: Watch, tokens: dict[str, str]
) -> None:
    def without(route: Route) -> None:
        answer = route.fetch()
        document = answer.json()
        partitions = [{**each, "owner": None} for each in document["partitions"]]
        route.fulfill(response=answer, json={**document, "executors": [], "partitions": partitions})

    page.route("**/api/v1/executor", without)
    _enter(page, watch, tokens, "viewer")
    expect(page.get_by_text("No executor was heard of in the last day")).to_be_visible()
    expect(_row(page, "Partitions", "nobody")).to_have_count(8)
    assert_accessible(page)
