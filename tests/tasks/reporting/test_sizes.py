"""Sizes: what is too large is cut between characters and marked, and nothing is refused."""

import hashlib
import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from tasks.reporting.record import RecordOrigin, RecordType, ReportRecord, read_record, record_id_of
from tasks.reporting.sizes import ENVELOPE_BYTES, RecordLimits, cut, fitted, limits_of, spilled

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=200)


def _record(payload: dict[str, JsonValue]) -> ReportRecord:
    kind = RecordType.TASK_REPORT
    return ReportRecord(
        type=kind,
        record_id=record_id_of("t-1", 0, kind, 0),
        subject="t-1",
        origin=RecordOrigin.STREAM,
        at=datetime(2026, 3, 1, tzinfo=UTC),
        seq=0,
        payload=payload,
    )


@given(TEXTS, st.integers(0, 300))
def test_a_cut_keeps_whole_characters_of_both_ends(text: str, most: int) -> None:
    head, tail = cut(text, most)

    assert len(head.encode()) + len(tail.encode()) <= max(most, 0)
    assert text.startswith(head)
    assert text.endswith(tail)
    assert (head, tail) == (text, "") or len(text.encode()) > most


@given(st.lists(TEXTS, max_size=4), st.integers(0, 400))
def test_a_record_fits_or_says_what_was_cut(texts: list[str], payload_bytes: int) -> None:
    record = _record({"messages": [*texts]})
    limits = RecordLimits(payload_bytes + ENVELOPE_BYTES)

    sent = fitted(record, limits)

    assert read_record(sent.to_json().encode()) == sent
    before = json.dumps(record.payload, ensure_ascii=False, separators=(",", ":"))
    if len(before.encode()) <= payload_bytes:
        assert sent == record
        return
    assert len(sent.to_json().encode()) <= limits.record_bytes
    assert sent.truncated is not None
    assert sent.truncated.sha256 == hashlib.sha256(before.encode()).hexdigest()
    assert sent.truncated.original_bytes == len(before.encode())
    assert before.startswith(str(sent.payload["head"]))
    assert before.endswith(str(sent.payload["tail"]))
    assert sent.record_id == record.record_id


@pytest.mark.parametrize(
    ("settings", "topic_bytes", "largest", "warned"),
    [
        ((1_000, 1_000 + ENVELOPE_BYTES), None, 1_000 + ENVELOPE_BYTES, []),
        ((1_000, 20_000), 20_000, 20_000, []),
        ((50_000, 20_000), None, 50_000 + ENVELOPE_BYTES, ["do not fit"]),
        ((1_000, 20_000), 9_000, 9_000, ["max.message.bytes=20000"]),
        ((50_000, 20_000), 9_000, 9_000, ["do not fit", "max.message.bytes=56068"]),
    ],
)
def test_of_ours_the_larger_holds_and_the_topic_caps_it(
    settings: tuple[int, int], topic_bytes: int | None, largest: int, warned: list[str]
) -> None:
    limits = limits_of(*settings, topic="completed.default", topic_bytes=topic_bytes)

    assert limits.record_bytes == largest
    assert len(limits.warnings) == len(warned)
    assert all(part in text for part, text in zip(warned, limits.warnings, strict=True))


@given(st.lists(TEXTS, max_size=4), st.integers(0, 400))
def test_what_is_spilled_is_all_there_in_chunks_of_a_log(
    texts: list[str], payload_bytes: int
) -> None:
    record = _record({"messages": [*texts], "wide": "é" * 70_000})
    limits = RecordLimits(payload_bytes + ENVELOPE_BYTES)

    *chunks, small = spilled(record, limits)

    assert small.truncated is not None
    assert {each.subject for each in chunks} == {small.truncated.spilled_to}
    assert len(chunks) >= 3
    assert [each.final for each in chunks] == [*([False] * (len(chunks) - 1)), True]
    content, sent = b"", [read_record(each.to_json().encode()) for each in chunks]
    for each in sent:
        assert each.offset == len(content)
        assert each.data_source == record.data_source
        content += str(each.payload["text"]).encode()
    assert hashlib.sha256(content).hexdigest() == small.truncated.sha256
    assert json.loads(content) == record.payload
    cut_alone = fitted(record, limits)
    assert small.payload == cut_alone.payload
    assert read_record(small.to_json().encode()) == small


def test_what_fits_is_not_spilled() -> None:
    record = _record({"rows": 3})
    assert [*spilled(record, RecordLimits(10_000))] == [record]
