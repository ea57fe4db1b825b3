"""Dead letters: what could not be stored and why, replayed and dropped by those who may.

Slow: an overlord that asks who calls starts.  Its persister answers by the real routes.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect
from starlette.testclient import TestClient

from supervisor.ports.reports.dead_letters import DeadLetter
from tests.browser.accessible import assert_accessible
from tests.browser.hostile.payloads import CONTROLS, PAYLOADS
from tests.browser.persisters.answering import answering
from tests.browser.test_login import REQUIRED, create_token, log_in
from tests.browser.watch import Watch
from tests.integration.overlords import Overlord, Overlords
from tests.supervisor.cli.cluster.test_reports import STATUS
from tests.supervisor.cli.overlord import Overlord as Server
from tests.supervisor.cli.overlord import Reply
from tests.supervisor.cli.overlord import overlord as a_server
from tests.supervisor.reports.desks import a_persister
from tests.waiting import HANGS_AFTER_S, wait_until

pytestmark = pytest.mark.process
expect.set_options(timeout=HANGS_AFTER_S * 1_000)

_PAGE, _API = "/ui/logs/dead-letters", "/api/v1/dead-letters"
_HOSTILE = DeadLetter(
    b"<b>key</b>", f"{PAYLOADS[0]} {CONTROLS[0]}".encode(), "completed.<i>x", 2, 7, PAYLOADS[0]
)
_CLUSTER = {"viewer": "*", "operator": "*", "admin": "*"}


@dataclass(frozen=True)
class _Desks:
    """An overlord, the address at which it asks for letters, and a token of each role."""

    overlord: Overlord
    server: Server
    tokens: dict[str, str]


@pytest.fixture(scope="module")
def desks(_built: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[_Desks]:
    """Roles on everything, and a viewer of one table; the persister is of each test."""
    folder = tmp_path_factory.mktemp("letters")
    url = f"sqlite:///{folder / 'metadata.db'}"
    tokens = {role: create_token(folder, url, role, role, on) for role, on in _CLUSTER.items()}
    tokens["stranger"] = create_token(folder, url, "stranger", "viewer", "orders")
    with a_server() as server, Overlords(folder, url, more=REQUIRED) as overlords:
        server.on("GET", "/status", Reply(STATUS))
        more = {"TIDEGATE_TOKEN": "", "TIDEGATE_REPORTS_PERSISTER": server.url}
        leader = overlords.start_leader(tokens["admin"], **more)
        headers = {"Authorization": f"Bearer {tokens['admin']}"}
        wait_until(lambda: _are_known(leader, headers))
        yield _Desks(leader, server, tokens)


def _are_known(leader: Overlord, headers: dict[str, str]) -> bool:
    answer = leader.http.get("/api/v1/overview", headers=headers).raise_for_status()
    return bool(answer.json()["reports"]["persisters"])


@pytest.fixture(scope="module")
def overlord(desks: _Desks) -> Overlord:
    """The overlord of these tests."""
    return desks.overlord


@pytest.fixture
def persister(desks: _Desks, tmp_path: Path) -> Iterator[TestClient]:
    """A persister with four letters; the newest one is hostile, and the oldest can be stored."""
    with a_persister(tmp_path, _HOSTILE) as client, answering(desks.server, client):
        yield client


def _enter(page: Page, watch: Watch, desks: _Desks, role: str, path: str = _PAGE) -> None:
    watch.expect_status(401, "/api/v1/me")
    page.goto(path)
    log_in(page, desks.tokens[role])
    expect(page.get_by_role("button", name=role)).to_be_visible()


def _rows(page: Page) -> Locator:
    return page.get_by_role("table", name="Dead letters").locator("tbody tr")


@pytest.mark.usefixtures("persister")
def test_letters_are_listed_read_and_replayed_with_what_became_of_it(
    page: Page, watch: Watch, desks: _Desks
) -> None:
    _enter(page, watch, desks, "operator", "/ui/work")
    page.get_by_role("link", name="could not be stored").click()
    rows = _rows(page)
    expect(rows).to_have_count(4)
    expect(rows.first).to_contain_text(PAYLOADS[0])
    expect(rows.first).to_contain_text("completed.<i>x[2]@7")
    assert_accessible(page)

    rows.first.get_by_role("button").first.click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Text")).to_contain_text(PAYLOADS[0])
    expect(dialog).to_contain_text("<b>key</b>")
    expect(page).to_have_url(re.compile(r"letter=\d+-\d+&of=http"))
    assert_accessible(page)
    page.reload()
    expect(dialog.get_by_label("Text")).to_contain_text(PAYLOADS[0])
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)

    page.get_by_label("Text in the reason").fill("VERSION")
    expect(rows).to_have_count(3)
    rows.last.get_by_role("button", name="Replay…").click()
    expect(dialog).to_contain_text("could not be stored: unknown version")
    assert_accessible(page)
    dialog.get_by_label(re.compile("^Reason")).fill("upgraded")
    dialog.get_by_role("button", name="Replay", exact=True).click()
    expect(
        page.get_by_text(re.compile("The record of the dead letter .* is stored"))
    ).to_be_visible()
    expect(rows).to_have_count(2)
    rows.first.get_by_role("button", name="Replay…").click()
    dialog.get_by_role("button", name="Replay", exact=True).click()
    expect(page.get_by_text(re.compile("still cannot be stored"))).to_be_visible()
    expect(rows.first).to_contain_text("refused again, operator")

    page.get_by_role("button", name="Also handled ones").click()
    expect(rows).to_have_count(3)
    expect(rows.last).to_contain_text("stored, operator")
    expect(rows.last.get_by_role("button", name="Replay…")).to_have_count(0)
    assert_accessible(page)


@pytest.mark.usefixtures("persister")
def test_a_letter_is_dropped_by_keys_once_its_name_was_typed(
    page: Page, watch: Watch, desks: _Desks
) -> None:
    page.emulate_media(color_scheme="dark")
    _enter(page, watch, desks, "admin")
    rows = _rows(page)
    expect(rows).to_have_count(4)
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("o")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Text")).to_contain_text("no json")
    assert_accessible(page)
    dialog.get_by_role("button", name="Drop…").press("Enter")
    form = page.get_by_role("dialog", name=re.compile("^Drop"))
    name = re.findall(r"\d+-\d+", form.inner_text())[0]
    expect(form.get_by_text(f"tidegate reports dead drop {name.replace('-', ' ')}")).to_be_visible()
    button = form.get_by_role("button", name="Drop", exact=True)
    expect(button).to_be_disabled()
    form.get_by_label(re.compile(f"^Type {name}")).fill(name)
    assert_accessible(page)
    button.press("Enter")

    expect(page.get_by_text(f"The dead letter {name} is dropped.")).to_be_visible()
    expect(rows).to_have_count(3)
    page.goto("/ui/audit")
    expect(page.get_by_role("table", name="Changes")).to_contain_text("drop-letter")


@pytest.mark.usefixtures("persister")
@pytest.mark.parametrize(
    ("role", "verb", "permission"),
    [("viewer", "Replay…", "replay"), ("operator", "Drop…", "queue-repair")],
)
def test_who_may_not_sees_what_is_missing(
    page: Page, watch: Watch, desks: _Desks, role: str, verb: str, permission: str
) -> None:
    _enter(page, watch, desks, role)
    button = _rows(page).first.get_by_role("button", name=verb)
    expect(button).to_have_attribute("aria-disabled", "true")
    button.hover()
    expect(page.get_by_role("tooltip")).to_contain_text(
        f"Needs the permission {permission} on the whole cluster"
    )
    button.press("Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)


@pytest.mark.usefixtures("persister")
def test_who_reads_one_table_alone_reads_no_letter_and_asks_for_none(
    page: Page, watch: Watch, desks: _Desks
) -> None:
    """Goal: a letter may be of any table.  The watch fails on an answer of 403."""
    _enter(page, watch, desks, "stranger", f"{_PAGE}?letter=1-1")
    expect(page.get_by_text("You may not read dead letters")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert_accessible(page)


def test_a_persister_that_refuses_is_said_and_another_try_heals(
    page: Page, watch: Watch, desks: _Desks, tmp_path: Path
) -> None:
    watch.expect_status(503, _API)
    desks.server.ask = lambda each: Reply(
        STATUS if each.path == "/status" else {"detail": "the <b>disk</b> is full"},
        200 if each.path == "/status" else 500,
    )
    _enter(page, watch, desks, "viewer")
    alert = page.get_by_role("alert").first
    expect(alert).to_contain_text("answered 500: the <b>disk</b> is full")
    assert_accessible(page)

    with a_persister(tmp_path) as client, answering(desks.server, client):
        alert.get_by_role("button", name="Try again").click()
        expect(_rows(page)).to_have_count(3)
        page.set_viewport_size({"width": 640, "height": 400})
        rows = _rows(page)
        rows.last.scroll_into_view_if_needed()
        expect(rows.last).to_be_in_viewport()
        assert_accessible(page)
        width = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert width <= 0
