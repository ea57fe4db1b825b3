"""Who may do what: each control is allowed, or says what is missing."""

import pytest
from playwright.sync_api import Page, expect

from supervisor.dev.ports import LOOPBACK
from tests.browser.accessible import assert_accessible
from tests.browser.roles.conftest import FLOW, FOREIGN, OURS, Roles, enter
from tests.browser.watch import Watch

pytestmark = [pytest.mark.process, pytest.mark.kafka]


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
    enter(page, watch, roles, role, f"/ui/supervisors/{OURS}/overview")
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
    enter(page, watch, roles, role, f"/ui/executions/{roles.execution}")
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
    enter(page, watch, roles, "operator", f"/ui/{path}")

    expect(page.get_by_text("You may not read flows and their executions.")).to_be_visible()
    expect(page.get_by_text("Needs the permission read on the whole cluster")).to_be_visible()
    assert_accessible(page)
