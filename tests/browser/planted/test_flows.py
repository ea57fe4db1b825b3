"""Flows and executions: a flow is started by its form, answered, paused, killed and rolled back."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.accessible import assert_accessible
from tests.browser.planted.conftest import Planted
from tests.browser.planted.flows import (
    DAY,
    apply_flow,
    asking_flow,
    await_asking,
    await_state,
    failing_flow,
    mended_flow,
    start_flow,
    triggered_flow,
)
from tests.browser.watch import Watch

pytestmark = pytest.mark.process


def _confirm(page: Page, verb: str) -> None:
    page.get_by_role("dialog").get_by_role("button", name=verb, exact=True).click()


def _step(page: Page, name: str) -> Locator:
    named = page.get_by_role("button", name=name, exact=True)
    return page.get_by_role("table", name="Steps").locator("tr[data-row]").filter(has=named)


def test_a_flow_is_started_by_its_form_and_goes_on_when_it_is_answered(
    page: Page, watch: Watch, planted: Planted
) -> None:
    apply_flow(planted.overlord.http, asking_flow("form-day"))
    watch.expect_status(400, "/api/v1/flows/form-day/executions")
    page.goto("/ui/")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.keyboard.press("g")
    page.keyboard.press("f")
    page.get_by_role("table", name="Flows").get_by_role("link", name="form-day").first.click()
    page.get_by_role("button", name="Start…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("most")).to_have_value("9223372036854775")
    dialog.get_by_label("day", exact=False).first.fill("soon")
    dialog.get_by_label("tables").fill('["clicks"]')
    dialog.get_by_label("Key").fill("by-form")
    with page.expect_response(lambda each: each.status == 400) as refused:
        _confirm(page, "Start")

    expect(dialog.get_by_label("day", exact=False).first).to_have_attribute("aria-invalid", "true")
    expect(dialog.get_by_text("is no date: write 2026-11-25").first).to_be_visible()
    request = refused.value.headers["x-request-id"]
    expect(dialog.get_by_role("alert")).to_contain_text(f"request {request}")
    assert_accessible(page)
    dialog.get_by_label("day", exact=False).first.fill(DAY)
    _confirm(page, "Start")

    expect(page).to_have_url(re.compile("/ui/executions/form-day(:|%3A)by-form$"))
    asks = page.get_by_role("region", name="What it waits for")
    expect(asks).to_contain_text(f"ok asks: tell of {DAY}?")
    expect(_step(page, "copy [0]")).to_contain_text("SUCCESS")
    expect(page.get_by_role("table", name="Steps")).not_to_contain_text("copy [1]")
    assert_accessible(page)
    asks.get_by_role("button", name="Yes ok").click()
    dialog.get_by_label("Comment").fill("all there")
    expect(dialog.get_by_text("--comment 'all there'").first).to_be_visible()
    _confirm(page, "Say yes")

    expect(page.get_by_role("button", name="Start anew…")).to_be_visible()
    expect(_step(page, "tidy")).to_contain_text("SUCCESS")
    expect(page.get_by_label("Outputs as JSON")).to_contain_text(DAY)
    expect(page.get_by_role("table", name="Events")).to_contain_text("answered")
    page.get_by_label("Graph of the steps").get_by_role("button", name="ok").click()
    expect(page.get_by_label("Outputs of the step")).to_contain_text("all there")
    assert_accessible(page)


def test_a_trigger_is_seen_paused_resumed_and_fired(page: Page, planted: Planted) -> None:
    http = planted.overlord.http
    apply_flow(http, triggered_flow("by-itself"))
    page.goto("/ui/flows/by-itself")
    triggers = page.get_by_role("table", name="Triggers")
    yearly = triggers.get_by_role("row", name="yearly")
    seen = triggers.get_by_role("row", name="seen")
    expect(yearly).to_contain_text("15 4 1 1 * UTC")
    expect(yearly).to_contain_text("in ")
    expect(seen).to_contain_text("at publishes of orders, each")
    expect(seen).to_contain_text("paused")
    expect(seen).to_contain_text("by its document")
    assert_accessible(page)

    yearly.get_by_role("button", name="Pause yearly").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("is passed by")
    dialog.get_by_label("Reason").fill("a rebuild")
    expect(dialog.get_by_text("--pause --reason 'a rebuild'").first).to_be_visible()
    _confirm(page, "Pause")
    expect(yearly).to_contain_text("paused")
    yearly.get_by_role("button", name="Resume yearly").click()
    _confirm(page, "Resume")
    expect(yearly.get_by_role("button", name="Pause yearly")).to_be_visible()
    yearly.get_by_role("button", name="Fire yearly now").click()
    _confirm(page, "Fire now")

    expect(yearly.get_by_role("link")).to_contain_text("by-itself:")
    expect(page.get_by_role("table", name="Newest executions")).to_contain_text("SUCCESS")
    assert_accessible(page)


def test_executions_are_found_by_label_starter_age_and_error(page: Page, planted: Planted) -> None:
    http = planted.overlord.http
    apply_flow(http, triggered_flow("found-day"))
    apply_flow(http, failing_flow("lost-day"))
    start_flow(http, "found-day", "by-request")
    http.post("/api/v1/flows/found-day/triggers/yearly/fire").raise_for_status()
    await_state(http, start_flow(http, "lost-day", "by-request"), "FAILED")
    page.goto("/ui/executions")
    rows = page.get_by_role("table", name="Executions").locator("tbody tr[data-row]")

    page.get_by_label("Label", exact=True).fill("team=found-day")
    page.get_by_label("Label", exact=True).press("Enter")
    expect(page).to_have_url(re.compile(r"label=team(:|%3A)found-day"))
    expect(rows).to_have_count(2)
    page.get_by_label("Started by", exact=True).select_option("by a schedule")
    expect(page).to_have_url(re.compile("startedBy=schedule"))
    expect(rows).to_have_count(1)
    page.get_by_role("button", name="Last hour").click()
    expect(page).to_have_url(re.compile("since=1h"))
    expect(rows).to_have_count(1)
    assert_accessible(page)

    page.get_by_role("button", name="Clear", exact=True).click()
    page.get_by_label("Flow, its whole name").fill("lost-day")
    page.get_by_label("Text of the error").fill("rows are missing")
    expect(page).to_have_url(re.compile("error=rows"))
    expect(rows).to_have_count(1)
    page.get_by_label("Text of the error").fill("rows are there")
    expect(page.get_by_text("No execution fits the filters.")).to_be_visible()


def test_executions_are_found_by_the_name_of_their_trigger(page: Page, planted: Planted) -> None:
    http = planted.overlord.http
    apply_flow(http, triggered_flow("rung-day"))
    start_flow(http, "rung-day", "by-request")
    http.post("/api/v1/flows/rung-day/triggers/yearly/fire").raise_for_status()
    page.goto("/ui/executions?flow=rung-day")
    rows = page.get_by_role("table", name="Executions").locator("tbody tr[data-row]")
    expect(rows).to_have_count(2)

    page.get_by_label("Trigger, its whole name").fill("yearly")
    expect(page).to_have_url(re.compile("trigger=yearly"))
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("rung-day:yearly")
    page.reload()
    expect(page.get_by_label("Trigger, its whole name")).to_have_value("yearly")
    expect(rows).to_have_count(1)
    assert_accessible(page)

    page.get_by_label("Trigger, its whole name").fill("no such name")
    expect(page.get_by_text("No execution fits the filters.")).to_be_visible()
    page.get_by_role("button", name="Clear", exact=True).click()
    expect(page).not_to_have_url(re.compile("trigger="))


def test_an_execution_is_paused_resumed_and_killed(page: Page, planted: Planted) -> None:
    http = planted.overlord.http
    apply_flow(http, asking_flow("stop-day"))
    execution = start_flow(http, "stop-day", "one", day=DAY)
    await_asking(http, execution)
    page.goto(f"/ui/executions/{execution}")

    page.get_by_role("button", name="Pause…").click()
    _confirm(page, "Pause")
    asks = page.get_by_role("region", name="What it waits for")
    expect(asks).to_contain_text("somebody to let it go on")
    page.get_by_role("button", name="Resume…").click()
    _confirm(page, "Resume")
    expect(asks).not_to_contain_text("somebody to let it go on")
    page.get_by_role("button", name="Kill…").click()
    _confirm(page, "Kill")

    expect(page.get_by_role("button", name="Start anew…")).to_be_visible()
    expect(_step(page, "ok")).to_contain_text("KILLED")
    expect(asks).to_have_count(0)
    page.get_by_role("button", name="Start anew…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("day", exact=False).first).to_have_value(DAY)


def test_a_failed_execution_says_why(page: Page, planted: Planted) -> None:
    http = planted.overlord.http
    apply_flow(http, failing_flow("judge-day"))
    execution = start_flow(http, "judge-day", "one")
    await_state(http, execution, "FAILED")
    page.emulate_media(color_scheme="dark")
    page.goto("/ui/executions?flow=judge-day&state=FAILED")
    rows = page.get_by_role("table", name="Executions").locator("tbody tr")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("judge: 3 rows are missing")
    assert_accessible(page)
    page.get_by_role("button", name="Success").click()
    page.get_by_role("button", name="Failed").click()
    expect(page).to_have_url("/ui/executions?flow=judge-day&state=SUCCESS")
    expect(page.get_by_text("No execution fits the filters.")).to_be_visible()

    page.goto(f"/ui/executions/{execution}")

    expect(page.get_by_role("alert")).to_contain_text("judge: 3 rows are missing")
    graph = page.get_by_label("Graph of the steps")
    expect(graph.get_by_text("noop · not begun")).to_have_count(1)
    expect(_step(page, "page")).to_contain_text("SUCCESS")
    assert_accessible(page)


def test_a_failed_execution_is_rerun_from_a_step(page: Page, planted: Planted) -> None:
    http = planted.overlord.http
    apply_flow(http, failing_flow("again-day"))
    execution = start_flow(http, "again-day", "one")
    await_state(http, execution, "FAILED")
    apply_flow(http, mended_flow("again-day"))
    page.goto(f"/ui/executions/{execution}")
    page.get_by_role("button", name="Rerun…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("pack, with their outputs")
    expect(dialog).to_contain_text("judge, tell")

    dialog.get_by_label("By the newest version").check()
    expect(dialog).to_contain_text("A new execution of version 2 begins")
    dialog.get_by_label("Begin with").select_option("judge")
    expect(dialog.get_by_text("Steps that it would keep are others now.")).to_be_visible()
    expect(dialog.get_by_role("button", name="Rerun", exact=True)).to_be_disabled()
    assert_accessible(page)
    dialog.get_by_label("Keep the outputs of pack, which version 2 has changed").check()
    expect(dialog.get_by_text("--from judge --latest --force").first).to_be_visible()
    _confirm(page, "Rerun")

    expect(page).not_to_have_url(re.compile("one$"))
    expect(page.get_by_role("heading", level=1)).to_contain_text("again-day:")
    expect(_step(page, "tell")).to_contain_text("SUCCESS")
    assert_accessible(page)


def test_a_step_that_asks_is_skipped(page: Page, planted: Planted) -> None:
    http = planted.overlord.http
    apply_flow(http, asking_flow("skip-day"))
    execution = start_flow(http, "skip-day", "one", day=DAY)
    await_asking(http, execution)
    page.goto(f"/ui/executions/{execution}")

    _step(page, "ok").get_by_role("button", name="Skip ok").click()
    _confirm(page, "Skip")

    expect(_step(page, "ok")).to_contain_text("SKIPPED")
    expect(_step(page, "tell")).to_contain_text("SUCCESS")


def test_a_flow_is_rolled_back_and_deleted(page: Page, planted: Planted, watch: Watch) -> None:
    # All that the page shows is asked for again once the flow is deleted.
    watch.allow_status(404, "/api/v1/flows/old-day/triggers")
    http = planted.overlord.http
    apply_flow(http, asking_flow("old-day"))
    apply_flow(http, failing_flow("old-day"), reason="a shorter one")
    page.goto("/ui/flows/old-day")
    versions = page.get_by_role("table", name="Versions")
    expect(versions).to_contain_text("a shorter one")
    expect(page.get_by_text("It has not run yet: start it.")).to_be_visible()
    assert_accessible(page)
    versions.get_by_role("button", name="1", exact=True).click()
    expect(page).to_have_url(re.compile("old-day.*version=1"))
    expect(page.get_by_text("This is version 1. A newer one is in use.")).to_be_visible()

    versions.get_by_role("button", name="Roll back to version 1").click()
    _confirm(page, "Roll back")
    expect(versions).to_contain_text("3, the newest")
    page.get_by_role("button", name="Delete…").click()
    _confirm(page, "Delete")

    expect(versions).to_contain_text("4, deletes it")
    expect(page.get_by_role("button", name="Start…")).to_have_count(0)
    page.goto("/ui/flows/old-day")
    expect(page.get_by_text("It is deleted: nothing starts it any more.")).to_be_visible()
    assert_accessible(page)


def test_what_is_not_there_says_so(page: Page, watch: Watch) -> None:
    for path in ("flows/never-there", "executions/never-there"):
        watch.expect_status(404, f"/api/v1/{path}")
        page.goto(f"/ui/{path}")
        expect(page.get_by_role("alert").first).to_contain_text(re.compile("no (flow|execution)"))
    assert_accessible(page)
