"""Digests of ranges: put together in any order, unknown rather than wrong."""

import re

from hypothesis import given
from hypothesis import strategies as st

from tasks.contract.digests import NO_RECORDS, PATTERN, VERSION, comparable, digest_of, together

BITS = st.integers(-(2**63), 2**63 - 1)


@given(st.lists(BITS, max_size=5), st.randoms())
def test_how_a_range_was_cut_is_not_seen(batches: list[int], random: object) -> None:
    del random
    digests = [digest_of(bits) for bits in batches]

    assert together(digests) == together([together(digests[:2]), together(digests[2:])])
    assert together(digests) == together([NO_RECORDS, *reversed(digests)])
    assert re.fullmatch(PATTERN, together(digests) or "")


@given(BITS, BITS)
def test_other_bits_are_another_digest(one: int, other: int) -> None:
    assert (digest_of(one) == digest_of(other)) == (one == other)


def test_a_range_without_records_has_a_digest() -> None:
    assert together([]) == together([NO_RECORDS]) == NO_RECORDS == f"{VERSION}:{'0' * 16}"


def test_what_is_not_known_of_a_part_is_not_known_of_the_whole() -> None:
    """Goal: a journal from before there were digests, or of two versions, alarms nobody."""
    old = digest_of(5, version=7)

    assert together([digest_of(1), None]) is None
    assert together([old, digest_of(1)]) is None
    assert together([old, old]) == digest_of(0, version=7)


def test_only_digests_of_one_version_are_compared() -> None:
    known, old = digest_of(1), digest_of(1, version=7)

    assert comparable(known, digest_of(2))
    assert not any(comparable(*pair) for pair in [(known, old), (known, None), (None, None)])
