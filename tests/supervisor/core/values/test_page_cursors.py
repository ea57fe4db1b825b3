"""Cursors of lists."""

import base64
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supervisor.core.values.errors import BadCursor
from supervisor.core.values.page_cursors import (
    KEYED_LENGTH_MAX,
    KeyedPlace,
    SortValue,
    page,
    page_behind,
    place_of,
    read_cursor,
    read_keyed,
    read_named,
    read_place,
    write_cursor,
    write_keyed,
    write_named,
)


@given(st.integers(0, 10**18 - 1))
def test_a_cursor_gives_its_position_back(position: int) -> None:
    assert read_cursor("audit", write_cursor("audit", position)) == position


@given(st.lists(st.integers(0, 10**18 - 1), min_size=1, max_size=4))
def test_a_place_of_several_numbers_comes_back_whole(place: list[int]) -> None:
    cursor = write_cursor("failed-events", *place)
    assert read_place("failed-events", cursor, len(place)) == tuple(place)
    with pytest.raises(BadCursor):
        read_place("failed-events", cursor, len(place) + 1)


def test_no_cursor_is_no_position() -> None:
    assert read_cursor("audit", None) is None


@given(st.text(max_size=300))
def test_garbage_is_refused(text: str) -> None:
    with pytest.raises(BadCursor, match="no cursor of audit"):
        read_cursor("audit", text)


@given(st.integers(0, 10**9), st.data())
def test_a_cursor_that_was_changed_is_refused(position: int, data: st.DataObject) -> None:
    """Goal: a client that counts up by itself hears so; it is not shown something else."""
    cursor = write_cursor("audit", position)
    at = data.draw(st.integers(0, len(cursor) - 1))
    sign = data.draw(st.characters(codec="utf-8").filter(lambda sign: sign != cursor[at]))
    with pytest.raises(BadCursor):
        read_cursor("audit", cursor[:at] + sign + cursor[at + 1 :])


def test_a_cursor_of_another_list_or_version_is_refused() -> None:
    with pytest.raises(BadCursor):
        read_cursor("audit", write_cursor("events", 3))
    later = base64.urlsafe_b64encode(b"2.audit.3.00000000").decode().rstrip("=")
    with pytest.raises(BadCursor):
        read_cursor("audit", later)


@given(st.integers(0, 30), st.integers(1, 10))
def test_pages_follow_each_other_without_a_gap(count: int, limit: int) -> None:
    every = [(number, f"row {number}") for number in range(count, 0, -1)]
    seen: list[str] = []
    cursor: str | None = None

    def read(rows_max: int, before: int | None) -> list[tuple[int, str]]:
        return [row for row in every if before is None or row[0] < before][:rows_max]

    while True:
        rows, cursor = page("audit", limit, cursor, read)
        seen += rows
        if cursor is None:
            break
    assert seen == [row for _, row in every]


@given(
    st.sets(st.text(min_size=1, max_size=4), max_size=30),
    st.lists(st.text(min_size=1, max_size=4), max_size=30),
    st.integers(1, 10),
)
def test_a_walk_over_a_list_with_an_order_sees_each_once_while_rows_are_added(
    there: set[str], later: list[str], limit: int
) -> None:
    """Goal: a row that comes between two pages is seen once or not at all, no other is missed."""
    rows, seen, coming = set(there), [], iter(later)
    cursor: str | None = None
    while True:
        ordered = sorted(rows)
        left = ordered[place_of("segments", cursor, ordered) :]
        page, cursor = page_behind(left, left, limit, "segments")
        seen += page
        rows.update(next(coming, "0") for _ in range(2))
        if cursor is None:
            break
    assert len(seen) == len(set(seen))
    assert there <= set(seen)


def test_a_cursor_that_names_no_row_is_refused() -> None:
    _, cursor = page_behind(["a", "b"], ["a", "b"], 1, "segments")
    assert place_of("segments", cursor, ["a", "b"]) == 1
    for text, list_name in ((cursor, "others"), ("a", "segments"), ("", "segments")):
        with pytest.raises(BadCursor):
            place_of(list_name, text, ["a", "b"])


def test_without_a_limit_all_is_one_page() -> None:
    assert page_behind(["a", "b"], ["a", "b"], None, "segments") == (["a", "b"], None)


_VALUES: st.SearchStrategy[SortValue] = st.one_of(
    st.none(),
    st.text(max_size=40),
    st.integers(),
    st.floats(allow_nan=False),
    st.lists(st.integers(), max_size=3),
)


@given(_VALUES, st.text(max_size=100))
def test_a_sorted_place_comes_back_whole(value: SortValue, row_id: str) -> None:
    cursor = write_keyed("list by name", KeyedPlace(value, row_id))
    assert read_keyed("list by name", cursor) == KeyedPlace(value, row_id)
    with pytest.raises(BadCursor):
        read_keyed("list by other", cursor)


def test_the_longest_value_has_a_cursor() -> None:
    """Goal: a pattern of 500 signs, each of four bytes, and the longest id have a next page."""
    place = KeyedPlace("\U0001f4a7" * 500, "s" * 128)

    cursor = write_keyed("supervisors by -dataSource", place)

    assert len(cursor) <= KEYED_LENGTH_MAX
    assert read_keyed("supervisors by -dataSource", cursor) == place


@given(st.text(max_size=300))
def test_garbage_is_no_sorted_place(text: str) -> None:
    with pytest.raises(BadCursor):
        read_keyed("list", text)


@pytest.mark.parametrize(
    "payload",
    [
        *("[]", "{}", "[" * 900),
        *('["1","list",true,"a"]', '["1","list",[true],"a"]', '["1","list",1,2]'),
        *('["1","list",1,"\\ud800"]', '["1","list","\\ud800","a"]'),
    ],
)
def test_a_sorted_place_has_one_form(payload: str) -> None:
    """Goal: a cursor that somebody makes up is refused, also with the right checksum."""
    whole = f"{zlib.crc32(payload.encode()):08x}{payload}".encode()
    with pytest.raises(BadCursor):
        read_keyed("list", base64.urlsafe_b64encode(whole).decode().rstrip("="))
    with pytest.raises(BadCursor):
        read_keyed("list", "a" * (KEYED_LENGTH_MAX + 1))
    assert read_keyed("list", None) is None


_IDS = st.text("abcXYZ019._-~", min_size=1, max_size=165)


@given(st.integers(0, 10**18 - 1), _IDS)
def test_a_place_with_a_name_comes_back_whole(number: int, name: str) -> None:
    cursor = write_named("tasks", number, name)

    assert read_named("tasks", cursor) == (number, name)
    for other in ("audit", "task", "tasks2"):
        with pytest.raises(BadCursor):
            read_named(other, cursor)


@given(st.text(max_size=500))
def test_garbage_is_no_place_with_a_name(text: str) -> None:
    with pytest.raises(BadCursor, match="no cursor of tasks"):
        read_named("tasks", text)


def test_a_cursor_of_numbers_is_no_place_with_a_name() -> None:
    with pytest.raises(BadCursor):
        read_named("tasks", write_cursor("audit", 7))
    assert read_named("tasks", None) is None
