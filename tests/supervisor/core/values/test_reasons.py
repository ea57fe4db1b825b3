"""Reasons of changes: one bounded line, whose signs are what they look like."""

import re

import pytest

from supervisor.core.values.errors import InvalidRequest
from supervisor.core.values.reasons import PATTERN, REASON_MAX, checked_reason


@pytest.mark.parametrize(
    "text",
    [
        "kafka moves to rack 7",
        "größer, 日本語, 👩\u200d💻",
        "<script>alert(1)</script>",
        "x" * REASON_MAX,
    ],
)
def test_a_line_of_text_stays_as_it_is(text: str) -> None:
    assert checked_reason(f" {text} ") == text
    assert re.search(PATTERN, text)


@pytest.mark.parametrize("text", [None, "", "   "])
def test_no_text_is_no_reason(text: str | None) -> None:
    assert checked_reason(text) is None


@pytest.mark.parametrize(
    "sign", ["\0", "\n", "\t", "\x1b", "\x7f", "\x85", "\u2028", "\u202e", "\u2066", "\ud800"]
)
def test_a_sign_that_is_not_what_it_looks_like_is_refused(sign: str) -> None:
    """Source: an override of the direction shows another text than the one that is stored."""
    with pytest.raises(InvalidRequest) as refused:
        checked_reason(f"to{sign}day")

    [error] = refused.value.errors
    assert error.pointer == "/query/reason"
    assert f"U+{ord(sign):04X}" in error.message
    assert error.hint


def test_the_pattern_of_the_description_refuses_them_too() -> None:
    for sign in "\0\n\x1b\x7f\x85\u2028\u202e\u2066":
        assert not re.search(PATTERN, f"to{sign}day")


def test_a_reason_that_is_too_long_is_refused_and_never_cut() -> None:
    with pytest.raises(InvalidRequest, match="501"):
        checked_reason("x" * (REASON_MAX + 1))
