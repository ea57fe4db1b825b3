"""Segment files that are damaged, cut off or gone: a read says what is missing, and no more."""

from tests.conformance.reports.log_chunks import HOUR, TASK, chunk, log_of, text_of, whole
from tests.conformance.reports.segment_world import SegmentWorld


def test_a_tail_with_rows_that_was_cut_off_is_said_to_be_missing(
    segments: SegmentWorld,
) -> None:
    """A disk that lies about fsync, or a copy that was not finished: at each byte of the tail."""
    store = segments.open()
    store.put_many([chunk(b"one\n")])
    (file,) = segments.files()
    first = file.stat().st_size
    store.put_many([chunk(b"two\n", 4), chunk(b"three\n", 8, ends=True)])
    full = file.read_bytes()
    for left in range(first, len(full)):
        file.write_bytes(full[:left])
        good, bad = whole(store)
        assert (good.offset, good.content, good.missing_bytes) == (0, b"one\n", 0)
        assert (bad.offset, bad.content, bad.missing_bytes) == (4, b"", 10)
        assert file.name in bad.missing
        assert "cut off" in bad.missing
    file.write_bytes(full)
    assert text_of(store) == b"one\ntwo\nthree\n"


def test_no_damaged_byte_is_read_as_text(segments: SegmentWorld) -> None:
    store = segments.open()
    store.put_many([chunk(b"one\n"), chunk(b"two\n", 4)])
    (file,) = segments.files()
    full = file.read_bytes()
    for at in range(len(full)):
        file.write_bytes(full[:at] + bytes([full[at] ^ 0x20]) + full[at + 1 :])
        (part,) = whole(store)
        assert (part.offset, part.content, part.missing_bytes) == (0, b"", 8)
        assert part.missing == f"{file.parent.name}/{file.name} is damaged at byte 0"
    file.write_bytes(full)
    assert text_of(store) == b"one\ntwo\n"


def test_a_file_that_is_gone_is_a_missing_part_between_others(segments: SegmentWorld) -> None:
    store = segments.open()
    for number in range(3):
        store.put_many([chunk(b"%d" % number * 10, 10 * number, ends=number == 2)])
        segments.clock.advance(HOUR)
    second = segments.files()[1]
    second.unlink()
    parts = whole(store)
    assert [(part.offset, part.content, part.missing_bytes) for part in parts] == [
        (0, b"0" * 10, 0),
        (10, b"", 10),
        (20, b"2" * 10, 0),
    ]
    assert parts[1].missing == f"{second.parent.name}/{second.name} is gone"
    assert [part.missing_bytes for part in store.read(TASK, 0, 12, 10)] == [8, 0]
    span = store.span(TASK, 0)
    assert span is not None
    assert span.is_whole


def test_a_chunk_that_reads_well_stands_in_for_a_damaged_one(segments: SegmentWorld) -> None:
    store = segments.open()
    text = log_of(2)
    store.put_many([chunk(text)])
    segments.clock.advance(HOUR)
    store.put_many([chunk(text[500:1_500], 500)])
    segments.files()[0].unlink()
    parts = whole(store)
    assert [(part.offset, len(part.content), part.missing_bytes) for part in parts] == [
        (0, 0, 500),
        (500, 1_000, 0),
        (1_500, 0, 548),
    ]
    assert parts[1].content == text[500:1_500]


def test_a_name_that_came_again_is_not_taken_for_the_file_of_before(
    segments: SegmentWorld,
) -> None:
    """An operator removes a file, and another one gets its name."""
    segments.open().put_many([chunk(b"one\n", subject="a")])
    (file,) = segments.files()
    file.unlink()
    after = segments.open()
    after.put_many([chunk(b"two\n", subject="b")])
    assert segments.files() == [file]
    (part,) = whole(after, "a")
    assert part.content == b""
    assert f"{file.name} has another chunk" in part.missing
    assert text_of(after, "b") == b"two\n"
