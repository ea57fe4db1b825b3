"""Patterns of names, against regular expressions."""

import re

from hypothesis import given
from hypothesis import strategies as st

from tasks.contract.patterns import matches, matches_any

_names = st.text("ab.", min_size=1, max_size=6)
_patterns = st.text("ab.*", min_size=1, max_size=6)


@given(_patterns, _names)
def test_a_star_stands_for_any_signs_and_nothing_else_for_others(pattern: str, name: str) -> None:
    expected = ".*".join(re.escape(piece) for piece in pattern.split("*"))
    assert matches(pattern, name) == (re.fullmatch(expected, name, re.DOTALL) is not None)


def test_one_pattern_that_matches_is_enough() -> None:
    assert matches_any(("x", "web-*"), "web-clicks")
    assert not matches_any(("x", "web-*"), "clicks")
    assert not matches_any((), "clicks")
