"""The warnings and errors of a log: the first and the last ones, each once, and how many."""

from tasks.reporting.grave_lines import EACH_MAX, LINE_CHARS_MAX, graves


def _line(number: int, level: str = "WARNING") -> str:
    return f"2026-11-28T10:00:{number % 60:02}Z {level:<7} number {number}\n"


def test_only_grave_lines_count_with_their_times_and_without_traces() -> None:
    lines = [_line(1, "INFO"), _line(2), "    WARNING in a trace\n", _line(3, "ERROR"), "\n", "x\n"]

    assert graves(lines) == {
        "count": 2,
        "first": [
            {"at": "2026-11-28T10:00:02Z", "level": "WARNING", "text": "number 2"},
            {"at": "2026-11-28T10:00:03Z", "level": "ERROR", "text": "number 3"},
        ],
        "last": [],
    }
    assert graves([]) == {"count": 0, "first": [], "last": []}


def test_of_many_the_first_and_the_last_ones_are_kept() -> None:
    kept = graves(_line(number) for number in range(1_000))

    texts = [[each["text"] for each in kept[part]] for part in ("first", "last")]  # type: ignore[index,union-attr,call-overload]
    assert kept["count"] == 1_000
    assert texts[0] == [f"number {number}" for number in range(EACH_MAX)]
    assert texts[1] == [f"number {number}" for number in range(1_000 - EACH_MAX, 1_000)]


def test_a_long_line_is_cut() -> None:
    kept = graves([f"2026-11-28T10:00:00Z ERROR   {'x' * 5_000}\n"])

    assert len(kept["first"][0]["text"]) == LINE_CHARS_MAX  # type: ignore[index,call-overload,arg-type]
