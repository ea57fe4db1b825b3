"""Who may do what: each control is allowed, or says what is missing; foreign tables are nowhere.

Slow: an overlord that asks who calls starts.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Page, Request, expect

from supervisor.dev.ports import LOOPBACK
from tests.browser.accessible import assert_accessible
from tests.browser.planted.flows import (
    DAY,
    apply_flow,
    asking_flow,
    await_asking,
    start_flow,
)
from tests.browser.planted.stored import failed_task, store_records
from tests.browser.test_login import REQUIRED, create_token, log_in
from tests.browser.watch import Watch
from tests.integration.oracle import spec
from tests.integration.overlords import SUPERVISORS, Overlord, Overlords
from tests.waiting import HANGS_AFTER_S

pytestmark = pytest.mark.process
expect.set_options(timeout=HANGS_AFTER_S * 1_000)

OURS, FOREIGN, FLOW = "shop-orders", "payroll-secret", "shop-day"


@dataclass(frozen=True)
class Roles:
    """An overlord that asks who calls, with a supervisor of each of two tables; name -> token."""

    overlord: Overlord
    tokens: dict[str, str]
    execution: str
    """An execution that waits for an answer."""


@pytest.fixture(scope="module")
def roles(_built: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Roles]:
    """A viewer and an operator of one table, a viewer of all, and an administrator."""
    folder = tmp_path_factory.mktemp("roles")
    url = f"sqlite:///{folder / 'metadata.db'}"
    granted = {"viewer": OURS, "operator": OURS, "admin": "*"}
    tokens = {role: create_token(folder, url, role, role, on) for role, on in granted.items()}
    tokens["watcher"] = create_token(folder, url, "watcher", "viewer", "*")
    more = REQUIRED | {"TIDEGATE_SUPERVISOR_PERIOD": "PT1S"}
    store_records(url, [*failed_task(OURS), *failed_task(FOREIGN)])
    with Overlords(folder, url, more=more) as overlords:
        leader = overlords.start_leader(tokens["admin"], TIDEGATE_TOKEN="")
        headers = {"Authorization": f"Bearer {tokens['admin']}"}
        for name in (OURS, FOREIGN):
            document = spec(f"{LOOPBACK}:1", name)
            leader.http.post(SUPERVISORS, json=document, headers=headers).raise_for_status()
        leader.http.headers.update(headers)
        apply_flow(leader.http, asking_flow(FLOW))
        execution = start_flow(leader.http, FLOW, "one", day=DAY)
        await_asking(leader.http, execution)
        for name in headers:
            del leader.http.headers[name]
        yield Roles(leader, tokens, execution)


@pytest.fixture(scope="module")
def overlord(roles: Roles) -> Overlord:
    """The overlord of these tests."""
    return roles.overlord


@pytest.fixture
def seen(page: Page) -> list[str]:
    """The bodies of all answers that the page was given."""
    bodies: list[str] = []

    def keep(request: Request) -> None:
        response = request.response()
        assert response is not None
        kind = response.headers.get("content-type", "")
        if "/ui/" not in response.url and "json" in kind:
            bodies.append(response.text())

    page.on("requestfinished", keep)
    return bodies


def _enter(page: Page, watch: Watch, roles: Roles, role: str, path: str) -> None:
    watch.expect_status(401, "/api/v1/me")
    page.goto(path)
    log_in(page, roles.tokens[role])
    expect(page.get_by_role("button", name=role)).to_be_visible()


_VERBS: dict[str, dict[str, str | None]] = {
    "viewer": {"Hand off…": "handoff", "Suspend…": "suspend"},
    "operator": {"Hand off…": None, "Suspend…": None},
    "admin": {"Hand off…": None, "Suspend…": None},
}
_MORE: dict[str, dict[str, str | None]] = {
    "viewer": {"Set offsets…": "reset", "Terminate…": "terminate"},
    "operator": {"Set offsets…": "reset", "Terminate…": "terminate"},
    "admin": {"Set offsets…": None, "Terminate…": None},
}


@pytest.mark.parametrize("role", ["viewer", "operator", "admin"])
def test_a_control_works_or_says_what_is_missing(
    page: Page, watch: Watch, roles: Roles, role: str
) -> None:
    _enter(page, watch, roles, role, f"/ui/supervisors/{OURS}/overview")
    for verb, permission in _VERBS[role].items():
        button = page.get_by_role("button", name=verb).first
        expect(button).to_have_attribute("aria-disabled", str(permission is not None).lower())
        button.hover()
        if permission is not None:
            expect(page.get_by_role("tooltip")).to_contain_text(
                f"Needs the permission {permission} on {OURS}"
            )
            button.press("Enter")  # focusable, and it does nothing
            expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("button", name="More").click()
    for verb, permission in _MORE[role].items():
        item = page.get_by_role("menuitem", name=verb)
        expect(item).to_have_attribute("aria-disabled", str(permission is not None).lower())
        if permission is not None:
            expect(item).to_contain_text(f"Needs the permission {permission} on {OURS}")
    page.keyboard.press("Escape")

    if role == "admin":
        page.goto("/ui/logs")
        expect(page.get_by_role("table", name="Lines")).to_contain_text(FOREIGN)
        page.goto("/ui/logs/reports")
        expect(page.get_by_role("table", name="Reports")).to_contain_text(FOREIGN)
    page.goto("/ui/audit")
    if role == "admin":
        expect(page.get_by_role("table", name="Changes")).to_contain_text(FOREIGN)
        expect(page.get_by_role("table", name="Changes")).to_contain_text(LOOPBACK)
        page.get_by_role("link", name="Denied tries").click()
        expect(page.get_by_role("table", name="Denied tries")).to_be_visible()
    else:
        expect(page.get_by_text("Needs the permission audit on the whole cluster")).to_be_visible()
    assert_accessible(page)


@pytest.mark.parametrize("role", ["watcher", "admin"])
def test_a_flow_is_started_and_answered_by_those_who_may(
    page: Page, watch: Watch, roles: Roles, role: str
) -> None:
    """Goal: who may only read the cluster reads flows, and each button says what is missing."""
    _enter(page, watch, roles, role, f"/ui/executions/{roles.execution}")
    barred = str(role == "watcher").lower()
    asks = page.get_by_role("region", name="What it waits for")
    for verb in ("Yes ok", "No ok", "Skip ok"):
        expect(asks.get_by_role("button", name=verb)).to_have_attribute("aria-disabled", barred)
    for verb in ("Pause…", "Kill…"):
        expect(page.get_by_role("button", name=verb)).to_have_attribute("aria-disabled", barred)
    page.goto(f"/ui/flows/{FLOW}")
    for verb in ("Start…", "Delete…"):
        expect(page.get_by_role("button", name=verb)).to_have_attribute("aria-disabled", barred)
    assert_accessible(page)
    if role == "watcher":
        page.get_by_role("button", name="Start…").hover()
        needed = "Needs the permission flow-run on the whole cluster"
        expect(page.get_by_role("tooltip")).to_contain_text(needed)


@pytest.mark.parametrize("path", ["flows", "executions", f"flows/{FLOW}", "executions/a:b"])
def test_flows_are_not_for_those_who_may_read_one_table(
    page: Page, watch: Watch, roles: Roles, path: str
) -> None:
    _enter(page, watch, roles, "operator", f"/ui/{path}")

    expect(page.get_by_text("You may not read flows and their executions.")).to_be_visible()
    expect(page.get_by_text("Needs the permission read on the whole cluster")).to_be_visible()
    assert_accessible(page)


@pytest.mark.parametrize("role", ["viewer", "operator"])
def test_a_foreign_table_is_nowhere(
    page: Page, watch: Watch, roles: Roles, seen: list[str], role: str
) -> None:
    _enter(page, watch, roles, role, "/ui/supervisors")
    expect(page.get_by_role("link", name=OURS)).to_be_visible()
    expect(page.get_by_text("1 supervisor", exact=False).first).to_be_visible()
    expect(page.get_by_role("link", name="Supervisors")).to_contain_text("1")
    for path, name in (("logs", "Lines"), ("logs/reports", "Reports")):
        page.goto(f"/ui/{path}")
        expect(page.get_by_role("table", name=name)).to_contain_text(OURS)
        expect(page.locator("body")).not_to_contain_text(FOREIGN)
    for path in ("", "queues", "work", "settings"):
        page.goto(f"/ui/{path}")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        expect(page.get_by_role("status", name="Loading")).to_have_count(0)
        expect(page.locator("body")).not_to_contain_text(FOREIGN)
    page.keyboard.press("Control+k")
    page.get_by_role("textbox", name="Search").fill("o")
    expect(page.get_by_role("dialog")).to_contain_text(OURS)
    expect(page.get_by_role("dialog")).not_to_contain_text(FOREIGN)
    page.get_by_role("textbox", name="Search").fill(FOREIGN[:7])
    expect(page.get_by_text("Nothing has these letters")).to_be_visible()
    assert not [body for body in seen if FOREIGN in body]


@pytest.mark.parametrize(
    "path",
    [
        "supervisors/{}/overview",
        "supervisors/{}/partitions",
        "queues/supervisor:{}/task-output",
        "queues/table:{}/export-delta",
    ],
)
def test_an_address_of_a_foreign_table_is_refused_as_one_of_nothing(
    page: Page, watch: Watch, roles: Roles, path: str
) -> None:
    """Goal: nobody finds out by its answers whether a name is there."""
    watch.expect_status(404, "/")
    _enter(page, watch, roles, "operator", "/ui/settings")
    texts = []
    for name in (FOREIGN, "never-there-at"):
        page.goto(f"/ui/{path.format(name)}")
        alert = page.get_by_role("alert").first
        expect(alert).to_contain_text("or you may not read it")
        texts.append([line.replace(name, "X") for line in alert.locator("p").all_inner_texts()][:2])
    assert texts[0] == texts[1]
