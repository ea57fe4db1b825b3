"""Outputs that are too large for their record: the dialog of their step names and saves them."""

import json
import re
import sqlite3
from contextlib import closing
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect
from pydantic import JsonValue

from tests.browser.accessible import assert_accessible
from tests.browser.planted.conftest import Planted
from tests.browser.planted.flows import apply_flow, await_state, start_flow
from tests.browser.watch import Watch
from tests.supervisor.adapters.executions.sink import a_sink

pytestmark = pytest.mark.process

ROWS = {"rows": [f"row {number}" for number in range(5_000)]}
JSON = {"Content-Type": "application/json"}


def test_a_large_answer_is_saved_whole(page: Page, planted: Planted) -> None:
    execution = _carried(planted, "save-large")
    page.goto(f"/ui/executions/{execution}")
    page.get_by_label("Graph of the steps").get_by_role("button", name="fetch").click()
    artifacts = page.get_by_role("dialog").get_by_role("list", name="Artifacts of the step")
    expect(artifacts.get_by_role("listitem")).to_have_count(1)
    assert_accessible(page)

    with page.expect_download() as downloading:
        artifacts.get_by_role("button", name=re.compile("^Save ")).click()

    assert downloading.value.suggested_filename.endswith(".json")
    assert json.loads(downloading.value.path().read_text()) == ROWS
    expect(page.get_by_text(f"{downloading.value.suggested_filename} is saved")).to_be_visible()


def test_an_artifact_that_is_gone_says_so(page: Page, planted: Planted, watch: Watch) -> None:
    execution = _carried(planted, "save-gone")
    page.goto(f"/ui/executions/{execution}")
    page.get_by_label("Graph of the steps").get_by_role("button", name="fetch").click()
    save = page.get_by_role("dialog").get_by_role("button", name=re.compile("^Save "))
    expect(save).to_be_visible()
    kept = planted.url.removeprefix("sqlite:///").replace("metadata.db", "executions.db")
    with closing(sqlite3.connect(kept)) as database, database:
        assert database.execute("DELETE FROM artifacts").rowcount > 0
    watch.expect_status(404, f"/api/v1/executions/{quote(execution)}/artifacts/")
    save.click()

    expect(page.get_by_role("alert").filter(has_text="has no artifact")).to_be_visible()


def _carried(planted: Planted, name: str) -> str:
    """Return the id of an execution whose step `fetch` has got a large answer."""
    http = planted.overlord.http
    with a_sink() as sink:
        sink.answer = lambda _: (200, JSON, json.dumps(ROWS).encode())
        step: JsonValue = {"name": "fetch", "type": "http", "url": sink.url()}
        apply_flow(http, {"flow": name, "steps": [step]})
        execution = start_flow(http, name, "one")
        await_state(http, execution, "SUCCESS")
    return execution
