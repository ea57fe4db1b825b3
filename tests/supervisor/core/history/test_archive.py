"""Records of the archive, and which numbers may leave the metadata: pure."""

from datetime import timedelta

import pytest

from supervisor.core.history.archive import (
    DETAIL_BYTES,
    EVENTS_HELD,
    RESEND_AFTER,
    ArchivePosition,
    Missing,
    audit_record,
    entry_of,
    event_of,
    event_record,
    is_due_again,
    stored_prefix,
    trimmed_to,
    without_lost,
)
from supervisor.core.history.lifecycle_events import EventKind, LifecycleEvent, NumberedEvent
from supervisor.core.model.rows import AuditEntry
from tasks.reporting.record import RecordType, read_record, record_id_of
from tests.conformance.stories import CLICKS, NOON

FACT = LifecycleEvent(
    NOON, EventKind.TASK_ENDED, CLICKS, {"n": 1}, group=2, generation_id="g", task_id="t"
)


def test_an_event_is_the_same_after_it_was_a_record() -> None:
    event = NumberedEvent(7, FACT)
    record = event_record("a-name", event)
    assert record.record_id == record_id_of("a-name", 0, RecordType.EVENT, 7)
    assert event_of(read_record(record.to_json().encode())) == event
    assert record == event_record("a-name", event)
    assert record.record_id != event_record("another", event).record_id


def test_an_entry_is_the_same_after_it_was_a_record() -> None:
    entry = AuditEntry(NOON, "ann", "act", "a table", {"supervisor": CLICKS}, "because")
    record = audit_record("a-name", 7, entry)
    assert entry_of(read_record(record.to_json().encode())) == entry
    assert record.supervisor == CLICKS


def test_a_kind_of_a_newer_release_is_unknown() -> None:
    record = event_record("a-name", NumberedEvent(7, FACT))
    newer = record.model_copy(update={"payload": {**record.payload, "type": "a-new-kind"}})
    assert event_of(newer).happening.kind is EventKind.UNKNOWN


def test_a_detail_that_no_topic_takes_is_cut() -> None:
    large = NumberedEvent(7, LifecycleEvent(NOON, FACT.kind, CLICKS, {"why": "x" * 2_000_000}))
    record = event_record("a-name", large)
    assert len(record.to_json().encode()) < 2 * DETAIL_BYTES
    assert event_of(record).happening.detail["cut"] == "2000011 bytes"


@pytest.mark.parametrize(
    ("stored", "wanted"),
    [([], (None, 3)), ([3, 5, 9], (9, None)), ([3, 9], (3, 5)), ([5, 9], (None, 3))],
)
def test_what_is_stored_counts_up_to_the_first_that_is_not(
    stored: list[int], wanted: tuple[int | None, int | None]
) -> None:
    assert stored_prefix([3, 5, 9], stored) == wanted


def test_a_record_is_sent_again_only_once_the_store_has_passed_it_by() -> None:
    missing = Missing(3, NOON, sent_to=9)
    soon, late = NOON + RESEND_AFTER - timedelta(seconds=1), NOON + RESEND_AFTER
    assert [is_due_again(missing, newest, late) for newest in (2, 8, 9, 12)] == [
        *(False, False, True, True)
    ]
    assert not is_due_again(missing, 12, soon)


def test_events_are_trimmed_as_far_as_they_are_stored_or_too_many() -> None:
    assert trimmed_to(5_000, 0, 100, None, 10) == 4_900
    assert trimmed_to(5_000, 3_000, 100, 3_500, 1_000) == 3_500
    assert trimmed_to(5_000, 3_000, 100, 4_990, 1_000) == 4_000
    assert trimmed_to(5_000, 3_000, 100, 0, 1_000) == 0
    assert trimmed_to(EVENTS_HELD + 700, 0, 100, 0, 1_000) == 700


def test_a_hole_moves_the_begin_of_what_is_whole() -> None:
    oldest = NumberedEvent(40, FACT)
    after = without_lost(ArchivePosition(50, 20, 1), oldest)
    assert after == ArchivePosition(50, 20, 40, NOON)
    assert without_lost(after, oldest) == after
