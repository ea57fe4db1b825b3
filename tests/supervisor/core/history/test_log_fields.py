"""How a change is told in the log: the same names for the same things, whatever the change."""

import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from supervisor.core.history.lifecycle_events import EventKind, LifecycleEvent
from supervisor.core.history.log_fields import fields_of, is_grave

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)


def event(kind: EventKind, **detail: JsonValue) -> LifecycleEvent:
    return LifecycleEvent(NOON, kind, "clicks", detail, group=3, generation_id="clicks:7")


def test_who_comes_first_and_the_facts_follow_in_snake_case() -> None:
    start: JsonValue = {"clicks:0": 17, "clicks:1": 4}

    fields = fields_of(event(EventKind.GENERATION_OPENED, specVersion=2, worker="w1", start=start))

    assert list(fields.items()) == [
        ("supervisor", "clicks"),
        ("group", 3),
        ("generation", "clicks:7"),
        ("worker", "w1"),
        ("spec_version", 2),
        ("start", "clicks:0 17, clicks:1 4"),
    ]


@given(st.dictionaries(st.from_regex(r"[a-z][a-zA-Z]{0,12}", fullmatch=True), st.integers()))
def test_a_field_never_has_a_capital_and_none_is_lost(detail: dict[str, int]) -> None:
    own = {"supervisor", "data_source", "group", "generation", "task"}
    names = {re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower() for name in detail}

    fields = fields_of(event(EventKind.SPEC_STORED, **detail))

    assert all(name == name.lower() for name in fields)
    assert names <= fields.keys()
    assert fields.keys() <= names | own


@pytest.mark.parametrize(
    ("kind", "detail", "grave"),
    [
        (EventKind.TASK_ENDED, {"status": "FAILED", "lost": False}, True),
        (EventKind.TASK_ENDED, {"status": "FAILED", "lost": True}, False),
        (EventKind.TASK_ENDED, {"status": "SUCCESS", "lost": False}, False),
        (EventKind.STATE_CHANGED, {"healthy": False}, True),
        (EventKind.STATE_CHANGED, {"healthy": True}, False),
        (EventKind.GAP_DECLARED, {}, True),
        (EventKind.GENERATION_DISCARDED, {}, True),
        (EventKind.GENERATION_EMPTY, {}, False),
    ],
)
def test_what_somebody_should_look_at_is_a_warning(
    kind: EventKind, detail: dict[str, JsonValue], *, grave: bool
) -> None:
    assert is_grave(event(kind, **detail)) is grave
