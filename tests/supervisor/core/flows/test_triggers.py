"""Triggers of flows that are refused, each with its pointer; and what a new version changes."""

import re
import textwrap
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml

from supervisor.adapters.expressions import CelExpressions
from supervisor.core.flows.document import FlowDocument
from supervisor.core.flows.reading import read_flow
from supervisor.core.flows.stored_triggers import follow_flow, slot_of_text
from supervisor.core.flows.triggers import read_trigger, written_trigger
from supervisor.core.values.errors import InvalidFlow

STEPS = [{"name": "pack", "type": "noop"}]
NIGHTLY = {"name": "nightly", "type": "schedule", "cron": "15 4 * * *"}
NOW = datetime(2026, 11, 25, 12, tzinfo=UTC)


def _flow(*triggers: object, **fields: object) -> FlowDocument:
    document = {"flow": "day", "steps": STEPS, "triggers": list(triggers), **fields}
    return read_flow(document, CelExpressions())


@pytest.mark.parametrize(
    ("trigger", "pointer", "says"),
    [
        ({"name": "a", "type": "cron"}, "/triggers/0", "schedule"),
        ({**NIGHTLY, "timzone": "UTC"}, "/triggers/0/timzone", "timezone"),
        ({**NIGHTLY, "cron": "0 0 30 2 *"}, "/triggers/0/cron", "cron"),
        ({**NIGHTLY, "timezone": "Europe/Zurch"}, "/triggers/0/timezone", "Europe/Zurich"),
        ({**NIGHTLY, "catchUp": 5_000}, "/triggers/0/catchUp", "1000"),
        ({**NIGHTLY, "inputs": {"dya": 1, "day": "2026-11-25"}}, "/triggers/0/inputs/dya", "day"),
        ({**NIGHTLY, "inputs": {"day": "${ trigger. }"}}, "/triggers/0/inputs/day", "parse"),
        (NIGHTLY, "/triggers/0/inputs", "day"),
        ({"name": "p", "type": "published"}, "/triggers/0", "table"),
        (
            {"name": "p", "type": "published", "table": "a", "supervisor": "b"},
            "/triggers/0",
            "both",
        ),
        ({"name": "h", "type": "webhook", "secret": "PATH"}, "/triggers/0/secret", ""),
        ({"name": "h", "type": "webhook"}, "/triggers/0/secret", "required"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(trigger: object, pointer: str, says: str) -> None:
    with pytest.raises(InvalidFlow) as refused:
        _flow(trigger, inputs=[{"name": "day", "type": "date"}])
    [error] = [each for each in refused.value.errors if each.pointer == pointer]
    assert says in f"{error.message} {error.hint}"


def test_names_are_there_once_and_triggers_are_bounded() -> None:
    with pytest.raises(InvalidFlow, match="twice"):
        _flow(NIGHTLY, NIGHTLY)
    with pytest.raises(InvalidFlow, match="at most 20"):
        _flow(*({**NIGHTLY, "name": f"n{n}"} for n in range(21)))


def test_a_trigger_is_read_as_it_was_written() -> None:
    hook = {"name": "h", "type": "webhook", "secret": "TIDEGATE_SECRET_X", "auth": "token"}
    for trigger in _flow(NIGHTLY, {"name": "p", "type": "published", "table": "t"}, hook).triggers:
        assert read_trigger(written_trigger(trigger)) == trigger


def test_a_version_changes_only_what_it_defines_otherwise() -> None:
    first = follow_flow("day", 1, _flow({**NIGHTLY, "paused": True}).triggers, (), NOW)
    [nightly] = first.put
    assert (nightly.paused, nightly.next_at, first.watching) == (True, None, ())
    resumed = nightly.with_pause(None, NOW)
    assert resumed.next_at == datetime(2026, 11, 26, 4, 15, tzinfo=UTC)

    same = follow_flow("day", 2, _flow(NIGHTLY).triggers, [resumed], NOW + timedelta(days=3))
    assert (same.put, same.removed) == ((), ())
    other = _flow(
        {**NIGHTLY, "cron": "0 5 * * *"}, {"name": "p", "type": "published", "table": "t"}
    )
    changes = follow_flow("day", 3, other.triggers, [resumed], NOW)
    assert [each.next_at for each in changes.put] == [datetime(2026, 11, 26, 5, tzinfo=UTC), None]
    assert (changes.reset, changes.watching) == (("nightly",), ("p",))
    assert follow_flow("day", 4, (), changes.put, NOW).removed == ("nightly", "p")


def test_slots_of_texts_are_plain_or_hashes_and_never_the_same() -> None:
    assert slot_of_text("orders_3f2a") == "orders_3f2a"
    strange = [slot_of_text(text) for text in ("a/b", "a:b", "a" * 65, "~x", "")]
    assert len({*strange}) == len(strange)
    assert all(slot.startswith("~") and len(slot) == 33 for slot in strange)


@pytest.mark.parametrize("page", ["how-to/start-a-flow-at-each-publish.md", "reference/flows.md"])
def test_the_flows_of_the_documents_can_be_applied(page: str) -> None:
    text = (Path(__file__).parents[4] / "docs" / page).read_text()
    blocks = [textwrap.dedent(block) for block in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)]
    assert blocks
    for block in blocks:
        read_flow(yaml.safe_load(block), CelExpressions())
