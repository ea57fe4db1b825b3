"""Sizes: what is too large is cut between characters and marked, and nothing is refused."""

import hashlib
import json
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from tasks.reporting.record import RecordOrigin, RecordType, ReportRecord, read_record, record_id_of
from tasks.reporting.sizes import ENVELOPE_BYTES, RecordLimits, cut, fitted, spilled, split

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


@given(
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1), st.integers(0, 60)
)
def test_a_piece_of_a_log_is_split_into_pieces_that_are_all_of_it(text: str, size: int) -> None:
    start, kind = 17, RecordType.LOG_CHUNK
    whole = _record({"text": text}).model_copy(
        update={
            "type": kind,
            "record_id": record_id_of("t-1", 0, kind, start),
            "seq": None,
            "offset": start,
            "final": True,
            "dropped": {RecordType.PROGRESS: 3},
        }
    )

    pieces = [read_record(each.to_json().encode()) for each in split(whole, _limits(size))]

    at, read = start, ""
    for each in pieces:
        assert each.offset == at
        part = str(each.payload["text"])
        assert len(json.dumps(part, ensure_ascii=False).encode()) <= max(size, 8)
        at, read = at + len(part.encode()), read + part
    assert read == text
    assert [each.final for each in pieces] == [*([False] * (len(pieces) - 1)), True]
    assert sum(each.dropped.get(RecordType.PROGRESS, 0) for each in pieces) == 3


def test_a_record_with_its_log_becomes_the_log_in_pieces_and_the_record_without_it() -> None:
    kind, lines = RecordType.COMBINED, "one line\n" * 5_000
    whole = _record({"log": lines, "rows": 3, "note": "n" * 30_000}).model_copy(
        update={"type": kind, "record_id": record_id_of("t-1", 0, kind, 0)}
    )

    *pieces, rest = split(whole, _limits(20_000))

    assert "".join(str(each.payload["text"]) for each in pieces) == lines
    assert {(each.type, each.subject) for each in pieces} == {(RecordType.LOG_CHUNK, "t-1")}
    assert max(len(each.to_json()) for each in [*pieces, rest]) <= 20_000 + ENVELOPE_BYTES
    assert rest.record_id == whole.record_id
    assert rest.truncated is not None
    assert rest.truncated.original_bytes < len(lines)


def test_a_record_without_a_log_is_cut_for_a_topic_that_takes_less() -> None:
    record = _record({"messages": ["m" * 30_000]})
    assert [*split(record, _limits(9_000))] == [fitted(record, _limits(9_000))]


def _limits(payload_bytes: int) -> RecordLimits:
    return RecordLimits(payload_bytes + ENVELOPE_BYTES)


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
