"""Attention rules of persisters: what is an item, and what is none."""

from datetime import UTC, datetime, timedelta

from supervisor.core.attention.items import AttentionKind, Severity
from supervisor.core.attention.reports import (
    BEHIND_AFTER,
    WatchedPersister,
    behind_of,
    persister_items,
)

_NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
_LONG_AGO = _NOW - timedelta(hours=1)
_LATE_S = BEHIND_AFTER.total_seconds()


def _state(
    state: str | None = "RUNNING",
    since: datetime = _LONG_AGO,
    *,
    reason: str = "",
    records: int = 0,
    age_s: float = 0.0,
    dead: int | None = 0,
    url: str = "http://p-1:8092",
) -> WatchedPersister:
    return WatchedPersister(
        url,
        state,
        since,
        reason,
        {"completed.default": records},
        {"completed.default": age_s},
        stored=7,
        dead_letters=dead,
    )


def _kinds(*states: WatchedPersister) -> list[AttentionKind]:
    return [each.kind for each in persister_items(states, _NOW)]


def test_a_persister_that_follows_is_no_item() -> None:
    assert _kinds(_state(records=900, age_s=2.0)) == []
    assert _kinds() == []


def test_reports_that_are_late_are_an_item_that_says_by_how_much() -> None:
    [item] = persister_items([_state(records=1_200, age_s=_LATE_S)], _NOW)
    assert (item.kind, item.severity) == (AttentionKind.REPORTS_BEHIND, Severity.AT_RISK)
    assert "1,200 records, the oldest 5 min old" in item.text
    assert _kinds(_state(records=1_200, age_s=_LATE_S - 1)) == []


def test_a_stopped_persister_is_an_item_with_its_reason_and_the_command() -> None:
    [item] = persister_items([_state("STOPPED", _NOW, reason="a wrong password")], _NOW)
    assert item.kind is AttentionKind.PERSISTER_STOPPED
    assert "a wrong password" in item.text
    assert item.remedies[0].command == "tidegate reports resume --persister http://p-1:8092"


def test_a_stopped_persister_that_is_behind_is_one_item() -> None:
    assert _kinds(_state("STOPPED", records=9, age_s=_LATE_S)) == [AttentionKind.PERSISTER_STOPPED]


def test_a_moment_without_an_answer_or_a_store_is_no_item() -> None:
    moment = _NOW - timedelta(seconds=20)
    assert _kinds(_state(None, moment), _state("BACKING_OFF", moment)) == []
    assert _kinds(_state(None), _state("BACKING_OFF")) == [
        AttentionKind.PERSISTER_SILENT,
        AttentionKind.PERSISTER_STOPPED,
    ]


def test_dead_letters_are_to_know_and_counted_once() -> None:
    states = [_state(dead=3), _state(dead=3, url="http://p-2:8092")]
    [item] = persister_items(states, _NOW)
    assert (item.kind, item.severity) == (AttentionKind.DEAD_LETTERS, Severity.TO_KNOW)
    assert item.text.startswith("3 records")


def test_the_lag_of_a_group_is_counted_once() -> None:
    behind = behind_of([_state(records=5, age_s=1.0), _state(records=6, age_s=3.0), _state(None)])
    assert behind is not None
    assert (behind.records, behind.age) == (6, timedelta(seconds=3))
    assert behind_of([_state(None)]) is None
    assert behind_of([]) is None
