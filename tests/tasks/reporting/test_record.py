"""Records: the same id for the same thing, and a reason for each that no store takes."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue, ValidationError

from tasks.reporting.record import (
    BadRecord,
    RecordOrigin,
    RecordType,
    ReportRecord,
    read_record,
    record_id_of,
)

AT = datetime(2026, 3, 1, tzinfo=UTC)
PLACES = st.tuples(
    st.text(min_size=1, max_size=8),
    st.integers(0, 9),
    st.sampled_from(RecordType),
    st.integers(0, 9),
)


def _record(
    subject: str = "t-1", kind: RecordType = RecordType.TASK_RESULT, place: int = 0
) -> ReportRecord:
    placed = {"offset" if kind is RecordType.LOG_CHUNK else "seq": place}
    return ReportRecord.model_validate(
        {
            "type": kind,
            "recordId": record_id_of(subject, 0, kind, place),
            "subject": subject,
            "origin": RecordOrigin.STREAM,
            "at": AT,
            "payload": {"status": "SUCCESS"},
            **placed,
        }
    )


def _body(**changed: JsonValue) -> bytes:
    value: dict[str, JsonValue] = json.loads(_record().to_json())
    return json.dumps({k: v for k, v in (value | changed).items() if v != "absent"}).encode()


@given(PLACES, PLACES)
def test_only_the_same_thing_has_the_same_id(
    one: tuple[str, int, RecordType, int], other: tuple[str, int, RecordType, int]
) -> None:
    assert (record_id_of(*one) == record_id_of(*other)) == (one == other)


@pytest.mark.parametrize("kind", RecordType)
def test_what_is_written_is_read(kind: RecordType) -> None:
    record = _record(kind=kind, place=7)

    assert read_record(record.to_json().encode()) == record
    assert record.place == 7


def test_a_field_of_a_newer_release_is_taken_as_absent() -> None:
    assert read_record(_body(colour="blue")) == _record()


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "no JSON"),
        (b"\xff", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b'{"foo": "bar"}', "unknown version None"),
        (b"[1]", "no JSON object"),
        (_body(v=2), "unknown version 2"),
        (_body(v="x" * 1_000_000), "unknown version 'x"),
        (_body(type="poem"), "type: "),
        (_body(recordId="absent"), "recordId: "),
        (_body(recordId="0" * 32), "recordId is not that of its content"),
        (_body(subject="t-2"), "recordId is not that of its content"),
        (_body(subject=""), "subject: "),
        (_body(attempt=1.5), "attempt: "),
        (_body(seq="absent"), "needs either seq or offset"),
        (_body(offset=0), "needs either seq or offset"),
        (_body(seq=-1), "seq: "),
        (_body(seq="absent", offset=0), "log chunks are placed by offset"),
        (_body(at="yesterday"), "at: "),
        (_body(payload={"a": ["\0"]}), "NUL"),
        (_body(payload={"\0": 1}), "NUL"),
        (_body(payload={"a": {"b": "\ud800"}}), "surrogate"),
        (_body(payload=[]), "payload: "),
        (b'{"v": 1, "payload": {"a": NaN}}', "NaN is no JSON number"),
        (b'{"v": 1, "payload": {"a": -Infinity}}', "-Infinity is no JSON number"),
        (b'{"v": 1, "payload": {"a": 1e999}}', "too large for a double"),
    ],
)
def test_a_record_that_can_never_be_stored_has_a_reason(body: bytes, reason: str) -> None:
    with pytest.raises(BadRecord) as refused:
        read_record(body)

    assert reason in str(refused.value)
    assert len(str(refused.value)) < 300


def test_a_sender_cannot_make_a_record_with_another_id() -> None:
    with pytest.raises(ValidationError, match="not that of its content"):
        ReportRecord(
            type=RecordType.PROGRESS,
            record_id="0" * 32,
            subject="t-1",
            origin=RecordOrigin.STREAM,
            at=AT,
            seq=0,
        )


@given(st.binary(max_size=60))
def test_any_bytes_are_a_record_or_have_a_reason(body: bytes) -> None:
    with pytest.raises(BadRecord):
        read_record(body)
