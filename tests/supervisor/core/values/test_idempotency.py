"""What a repeated key means."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supervisor.core.values.idempotency import (
    RUNS,
    KeyClaim,
    KeyRow,
    KeyVerdict,
    StoredAnswer,
    digest_of,
    is_key,
    judge,
)
from tests.supervisor.core.snapshots import NOON

FIRST = KeyClaim("a", "ann", "key", "digest", 5, NOON)
ANSWER = StoredAnswer(200, {}, b"{}")
SOON, LATE = NOON + RUNS / 2, NOON + RUNS


def again(**changed: object) -> KeyClaim:
    """A repeat of the first request."""
    claim = replace(FIRST, id="b", claimed_at=SOON)
    return replace(claim, **changed)  # type: ignore[arg-type]  # of a test


@pytest.mark.parametrize(
    ("found", "claim", "verdict"),
    [
        (None, again(), KeyVerdict.FREE),
        (KeyRow(FIRST), again(), KeyVerdict.IN_USE),
        (KeyRow(FIRST, acted=True), again(), KeyVerdict.IN_USE),
        (KeyRow(FIRST, answer=ANSWER), again(), KeyVerdict.REPLAY),
        (KeyRow(FIRST, True, ANSWER), again(term=9, claimed_at=LATE), KeyVerdict.REPLAY),
        (KeyRow(FIRST), again(digest="other"), KeyVerdict.REUSED),
        (KeyRow(FIRST, True, ANSWER), again(digest="other"), KeyVerdict.REUSED),
        (KeyRow(FIRST), again(term=6), KeyVerdict.FREE),
        (KeyRow(FIRST), again(claimed_at=LATE), KeyVerdict.FREE),
        (KeyRow(FIRST, acted=True), again(term=6), KeyVerdict.LOST),
        (KeyRow(FIRST, acted=True), again(claimed_at=LATE), KeyVerdict.LOST),
    ],
)
def test_each_case(found: KeyRow | None, claim: KeyClaim, verdict: KeyVerdict) -> None:
    assert judge(found, claim) is verdict


@given(
    term=st.integers(1, 9),
    after=st.timedeltas(timedelta(0), timedelta(days=2)),
    answer=st.sampled_from([None, ANSWER]),
)
def test_what_has_acted_is_never_carried_out_again(
    term: int, after: timedelta, answer: StoredAnswer | None
) -> None:
    claim = again(term=term, claimed_at=NOON + after)

    assert judge(KeyRow(FIRST, True, answer), claim) is not KeyVerdict.FREE


@pytest.mark.parametrize("text", ["", "a b", "a\n", "ü", "a" * 201])
def test_what_is_no_key(text: str) -> None:
    assert not is_key(text)


def test_a_key_has_up_to_200_visible_characters() -> None:
    assert is_key("!") and is_key("~" * 200)  # noqa: PT018 -- one claim


@given(st.lists(st.binary(max_size=4), max_size=4), st.lists(st.binary(max_size=4), max_size=4))
def test_parts_do_not_run_into_each_other(one: list[bytes], other: list[bytes]) -> None:
    assert (digest_of(*one) == digest_of(*other)) == (one == other)
