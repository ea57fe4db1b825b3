"""Tags of versions, and what a caller may expect of the newest one.  Source: RFC 9110, 13.1."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supervisor.core.model.rows import SpecVersion
from supervisor.core.planning.preconditions import ANY, TAGS_MAX, Expected, etag_of, read_tags
from supervisor.core.values.errors import PreconditionFailed
from tests.supervisor.core.snapshots import NOON, spec

VERSION = SpecVersion("clicks", 3, NOON, spec())
TOMBSTONE = replace(VERSION, spec=None)
ANYTHING = frozenset({ANY})
OTHER = frozenset({'"2-0000000000000000"'})
OURS = frozenset({etag_of(VERSION)})


def test_every_version_has_a_tag_of_its_own_also_after_it_was_forgotten() -> None:
    others = [
        replace(VERSION, version=4),
        replace(VERSION, supervisor_id="views"),
        replace(VERSION, created_at=NOON + timedelta(days=1)),
    ]

    assert len({etag_of(v) for v in (VERSION, *others)}) == 4
    assert etag_of(VERSION) == etag_of(replace(VERSION))


@pytest.mark.parametrize(
    ("expected", "newest"),
    [
        (Expected(), None),
        (Expected(match=OURS), VERSION),
        (Expected(match=OURS | OTHER), VERSION),
        (Expected(match=ANYTHING), VERSION),
        (Expected(none_match=ANYTHING), None),
        (Expected(none_match=ANYTHING), TOMBSTONE),
        (Expected(none_match=OTHER), VERSION),
    ],
)
def test_what_is_as_expected_goes_on(expected: Expected, newest: SpecVersion | None) -> None:
    expected.check("clicks", newest)


@pytest.mark.parametrize(
    ("expected", "newest", "message"),
    [
        (Expected(match=OTHER), VERSION, "is at version 3 now"),
        (Expected(match=ANYTHING), None, "leave the header out to create it"),
        (Expected(match=ANYTHING), TOMBSTONE, "leave the header out to create it"),
        (Expected(match=OURS), TOMBSTONE, "has no spec"),
        (Expected(none_match=ANYTHING), VERSION, "has a spec already, version 3"),
        (Expected(none_match=OURS), VERSION, "has a spec already, version 3"),
    ],
)
def test_what_is_not_as_expected_says_what_there_is(
    expected: Expected, newest: SpecVersion | None, message: str
) -> None:
    with pytest.raises(PreconditionFailed, match=message) as failed:
        expected.check("clicks", newest)

    there = newest is not None and newest.spec is not None
    assert failed.value.version == (3 if there else None)
    assert failed.value.etag == (etag_of(VERSION) if there else None)


def test_lists_are_read_and_only_reads_take_weak_tags() -> None:
    lines = ['"a", W/"b"', '"c"']

    assert read_tags(lines, weak=False) == frozenset({'"a"', 'W/"b"', '"c"'})
    assert read_tags(lines, weak=True) == frozenset({'"a"', '"b"', '"c"'})
    assert read_tags([" * "], weak=False) == ANYTHING


def test_a_tag_may_hold_a_comma() -> None:
    """Source: RFC 9110, 8.8.3: others' servers give such tags, and lists of them are lists."""
    assert read_tags(['"E", W/",&" ,""'], weak=True) == frozenset({'"E"', '",&"', '""'})


@pytest.mark.parametrize(
    "lines", [[""], ["3"], ['"a", *'], ['"a'], ['"a" "b"'], ['"a"'] * (TAGS_MAX + 1)]
)
def test_what_is_no_list_of_tags_is_not_read(lines: list[str]) -> None:
    assert read_tags(lines, weak=False) is None


@given(st.lists(st.text(max_size=30), max_size=5))
def test_any_text_is_read_or_refused(lines: list[str]) -> None:
    found = read_tags(lines, weak=True)

    assert found is None or all(tag == ANY or tag.startswith('"') for tag in found)
