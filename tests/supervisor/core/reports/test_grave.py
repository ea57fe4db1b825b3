"""Warnings and errors are read out of the text of a log, each with its own offset."""

from supervisor.core.reports.grave import LINE_MAX, GraveLevel, grave_lines

_LOG = (
    b"2026-11-28T10:00:00.1Z INFO    a batch begins rows=3\n"
    b"2026-11-28T10:00:01.1Z WARNING a record is bad ERROR=no\n"
    b"2026-11-28T10:00:02.1Z ERROR   the disk is full\n"
    b"    Traceback: 2026 ERROR shifted\n"
    b"2026-11-28T10:00:03.1Z CRITICAL the end\n"
    b"ERROR without a time\n"
)


def test_grave_lines_have_their_level_and_their_place() -> None:
    lines = list(grave_lines(_LOG, 1_000))

    assert [each.level for each in lines] == [
        GraveLevel.WARNING,
        GraveLevel.ERROR,
        GraveLevel.CRITICAL,
    ]
    for each in lines:
        start = each.offset - 1_000
        assert _LOG[start:].decode().startswith(each.text)


def test_a_line_is_cut_at_its_bound_and_without_its_end() -> None:
    (line,) = grave_lines(b"2026-11-28T10:00:00Z ERROR   " + b"x" * 5_000 + b"\r\n", 0)

    assert len(line.text) == LINE_MAX


def test_the_same_line_is_read_wherever_the_log_is_cut_between_lines() -> None:
    first = _LOG.index(b"2026-11-28T10:00:02")

    apart = [*grave_lines(_LOG[:first], 0), *grave_lines(_LOG[first:], first)]

    assert apart == list(grave_lines(_LOG, 0))
