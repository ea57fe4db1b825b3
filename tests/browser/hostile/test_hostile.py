"""Hostile text is shown as text: no dialog, no new element, nothing in the browser's console."""

import json
from urllib.parse import quote, urlencode

import pytest
from playwright.sync_api import Page, expect

from tests.browser.hostile.conftest import CONTAINER, NAMES, Judge
from tests.browser.hostile.payloads import CONTROLS, PAYLOADS, shown
from tests.browser.planted.conftest import HANDLED_BY_NOBODY, Planted
from tests.browser.watch import Watch

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("hostile")]

_QUEUE = f"/ui/queues/supervisor:hostile/{HANDLED_BY_NOBODY}"


def test_queues_show_keys_reasons_and_payloads(judge: Judge, page: Page) -> None:
    judge.go("/ui/queues")
    judge.shows(CONTAINER, *PAYLOADS[:6])
    judge.go(f"/ui/queues/{quote(CONTAINER, safe='')}/{HANDLED_BY_NOBODY}")
    judge.shows(CONTAINER, *PAYLOADS[:6])

    judge.go(_QUEUE)
    judge.shows(*PAYLOADS, *CONTROLS)
    for seq in (1, 2, 28, 30, 35, len(PAYLOADS) + 1):
        judge.go(f"{_QUEUE}?event={seq}")
        expect(page.get_by_label("Payload")).to_be_visible()
        judge.is_calm()
    judge.go(f"{_QUEUE}?event={len(PAYLOADS) + len(CONTROLS) + 1}")
    assert len(page.get_by_label("Payload").inner_text()) > 1_000_000
    judge.is_calm()


def test_audit_work_and_operations_show_reasons_and_authors(
    judge: Judge, page: Page, reasons: list[str]
) -> None:
    judge.go("/ui/audit?supervisor=hostile")
    judge.shows(*reasons)
    page.get_by_role("button", name="Details of").first.click()
    expect(page.get_by_role("dialog")).to_be_visible()
    judge.is_calm()

    judge.go("/ui/work")
    judge.shows(*reasons)
    page.get_by_role("button", name="operation").click()
    judge.is_calm()


def test_spec_and_history_show_contexts_and_reasons(
    judge: Judge, page: Page, reasons: list[str]
) -> None:
    judge.go("/ui/supervisors/hostile/history")
    judge.shows(*reasons)
    judge.go(f"/ui/supervisors/hostile/history?left=1&right={len(PAYLOADS)}")
    expect(page.locator(".cm-content").first).to_be_visible()
    judge.is_calm()
    for view in ("form", "json", "diff"):
        judge.go(f"/ui/supervisors/hostile/spec?view={view}")
        judge.is_calm()


def test_supervisors_show_the_names_of_all_objects(judge: Judge, page: Page) -> None:
    judge.go("/ui/")
    judge.is_calm()
    judge.go("/ui/supervisors?sort=id")
    judge.shows(*NAMES)
    for name in (*NAMES, "hostile"):
        judge.go(f"/ui/supervisors/{name}/overview")
        judge.shows(name)
    page.keyboard.press("Control+k")
    page.get_by_role("textbox", name="Search").fill("constructor")
    expect(page.get_by_role("dialog")).to_contain_text("topic constructor")
    judge.is_calm()


def test_addresses_hold_anything(judge: Judge, page: Page, watch: Watch) -> None:
    watch.expect_status(404, "/api/v1/")
    watch.expect_status(404, "/druid/")
    names = ("q", "table", "topic", "sort", "sel", "state", "kind", "only", "action", "actor")
    more = ("supervisor", "event", "window", "do", "to", "at", "offset", "next", "__proto__")
    pages = ("supervisors", "queues", "work", "audit", "supervisors/hostile/overview", "settings")
    step = len(names) + len(more)
    for n, place in enumerate(pages):
        some = [PAYLOADS[(n * step + m) % len(PAYLOADS)] for m in range(step)]
        judge.go(f"/ui/{place}?{urlencode(list(zip((*names, *more), some, strict=True)))}")
        judge.is_calm()
    judge.go("/ui/supervisors?state=constructor&state=__proto__")
    for state in ("constructor", "__proto__"):
        expect(page.get_by_role("button", name=state)).to_have_text(f"{state} 0")
    for payload in PAYLOADS[:3]:
        judge.go(f"/ui/supervisors?q={quote(payload, safe='')}")
        expect(page.get_by_label("Name, table or topic")).to_have_value(payload)
        judge.go(f"/ui/supervisors/{quote(payload, safe='')}/overview")
        judge.shows(payload)


def test_a_login_leads_nowhere_else(judge: Judge, page: Page, hostile: Planted) -> None:
    targets = [text for text in PAYLOADS if "script" in text.lower() or "foreign" in text]
    for target in targets[::4]:
        page.goto(f"/ui/login?next={quote(target, safe='')}")
        expect(page).to_have_url(f"{hostile.overlord.url}/ui/")
        judge.is_calm()


def test_preferences_of_the_browser_hold_anything(judge: Judge, page: Page) -> None:
    text = PAYLOADS[4]
    columns = {"supervisors": [text, "__proto__"], "constructor": [text], text: [text]}
    members = '{"__proto__": {"hostile": true}, "hidden": {"__proto__": ["id"], "work": {"a": 1}}}'
    kept = [
        json.dumps({"zone": text, "density": text, "keys": text, "hidden": columns}),
        members,
        text,
        "[]",
        "null",
        '{"hidden": null}',
    ]
    judge.go("/ui/settings")
    for value in kept:
        page.evaluate("value => localStorage.setItem('tidegate:preferences', value)", value)
        page.evaluate("value => localStorage.setItem('mantine-color-scheme-value', value)", text)
        judge.go("/ui/supervisors")
        expect(page.get_by_role("columnheader", name="Supervisor")).to_be_visible()
        judge.is_calm()
    assert shown(text) == text
