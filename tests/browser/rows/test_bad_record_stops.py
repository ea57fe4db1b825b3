"""A bad record stops a supervisor: what Home's buttons lead to has it go on, with Spark.

Slow: tasks of a JVM fail several times in a row.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pytest
from playwright.sync_api import Locator, Page, expect
from pydantic import JsonValue

from supervisor.dev.broker import Broker
from tests.browser.accessible import assert_accessible
from tests.environment.brokers import create_topic, produce
from tests.integration.cluster import SUPERVISORS, Cluster
from tests.integration.oracle import ids_in_files, record, spec
from tests.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.kafka, pytest.mark.spark, pytest.mark.long]

_BEFORE, _AFTER = 5, 7
_END = _BEFORE + 1 + _AFTER
_BROKEN = "broken json"


def test_the_step_that_sets_bad_records_aside_leads_to_its_field_with_the_value(
    page: Page, cluster: Cluster, broker: Broker
) -> None:
    name = "stopped-aside"
    with _stopped(page, cluster, broker, name) as row:
        _open_step(page, row, "Set bad records aside, and read the others")
        expect(page).to_have_url(re.compile(f"/ui/supervisors/{name}/spec\\?.*badRecords"))
        field = page.get_by_text("This is the field to change.").locator("xpath=../..")
        expect(field).to_contain_text("badRecords")
        proposal = page.get_by_role("region", name="The step that led here")
        expect(proposal).to_contain_text(re.compile("the proposed value is .?quarantine"))
        proposal.get_by_role("button", name="Put it into the draft").click()
        expect(page.get_by_role("list", name="Changes")).to_contain_text("badRecords")

        page.get_by_role("button", name="Save as version 2…").click()
        dialog = page.get_by_role("dialog", name="save as version 2")
        dialog.get_by_role("button", name="Save as version 2", exact=True).click()

        expect(page.get_by_text("This is version 2, the newest.")).to_be_visible()
        _publish(cluster, name)
        assert ids_in_files(cluster.files(name)) == _ids()
        page.goto(f"/ui/supervisors/{name}/bad-records")
        rows = page.get_by_role("table", name="Bad records").locator("tbody tr")
        expect(rows).to_have_count(1)
        expect(rows).to_contain_text(_BROKEN)


def test_the_step_that_skips_the_record_leads_to_its_partition_and_offset(
    page: Page, cluster: Cluster, broker: Broker
) -> None:
    """Goal: those before it were never published, and are said to be skipped with it."""
    name = "stopped-skipped"
    with _stopped(page, cluster, broker, name) as row:
        between = f"with {_BEFORE} records before it"
        _open_step(page, row, f"Skip the record at offset {_BEFORE} of partition 0, {between}")

        dialog = page.get_by_role("dialog", name=f"{name}: set offsets")
        following = str(_BEFORE + 1)
        expect(dialog.get_by_label("Next offset of partition 0")).to_have_value(following)
        cells = dialog.get_by_role("region", name="What it does").locator("tbody td")
        expect(cells.nth(1)).to_have_text("0")
        expect(cells.nth(2)).to_have_text(following)
        expect(cells.nth(3)).to_contain_text(f"0\N{EN DASH}{_BEFORE} {following}")
        assert_accessible(page)
        dialog.get_by_label("to confirm").fill(following)
        dialog.get_by_role("button", name="Set offsets").click()
        expect(dialog).to_have_count(0)

        _publish(cluster, name)
        assert ids_in_files(cluster.files(name)) == _ids(before=False)


@contextmanager
def _stopped(page: Page, cluster: Cluster, broker: Broker, name: str) -> Iterator[Locator]:
    """Have a supervisor stop at a record, and yield its item on Home; it ends afterwards."""
    create_topic(broker.bootstrap, name)
    good = [record(n) for n in range(_BEFORE + _AFTER)]
    produce(broker.bootstrap, name, (*good[:_BEFORE], _BROKEN, *good[_BEFORE:]))
    page.goto("/ui/")
    cluster.apply(_strict(broker.bootstrap, name))
    try:
        items = page.get_by_role("region", name="Needs somebody").get_by_role("listitem")
        row = items.filter(has_text=f"{name} is UNHEALTHY_TASKS")
        expect(row).to_have_count(1)
        expect(row).to_contain_text(f"one is {name}:0 {_BEFORE}")
        yield row
    finally:
        cluster.http.post(f"{SUPERVISORS}/{name}/terminate").raise_for_status()


def _open_step(page: Page, row: Locator, label: str) -> None:
    """Open a step that is not the first one: that one reads the log of the task."""
    row.get_by_role("button", name="2 more").click()
    step = page.get_by_role("listitem").filter(has_text=label)
    step.get_by_role("button", name="Open…").click()


def _strict(bootstrap: str, name: str) -> Mapping[str, JsonValue]:
    document = spec(bootstrap, name, task_count=1, task_duration="PT1H")
    inner = document["spec"]
    assert isinstance(inner, dict)
    inner["tuningConfig"] = {"type": "kafka", "badRecords": "fail"}
    return document


def _publish(cluster: Cluster, name: str) -> None:
    """Have it hand off all that the topic has, and wait until it is published."""
    wait_until(lambda: cluster.has_read(name, {"0": _END}))
    path = f"{SUPERVISORS}/{name}/taskGroups/handoff"
    cluster.http.post(path, json={"taskGroupIds": [0]}).raise_for_status()
    wait_until(lambda: cluster.status(name)["committedOffsets"] == {"0": _END})


def _ids(*, before: bool = True) -> dict[str, int]:
    return {f"r-{n}": 1 for n in range(0 if before else _BEFORE, _BEFORE + _AFTER)}
