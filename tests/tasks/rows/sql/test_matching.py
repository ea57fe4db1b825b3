"""LIKE as SQL: a plain comparison where one is enough, else one form of all patterns."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.rows.sql.matching import canonical_like, like_sql
from tests.tasks.rows.sql.like_model import is_like

SIGNS = "ab%_\\!\né😀"
ESCAPES = (None, "\\", "!", "%", "_", "a")


@pytest.mark.parametrize(
    ("pattern", "escape", "sql"),
    [
        ("", None, "(x = '')"),
        ("abc", None, "(x = 'abc')"),
        ("abc%", None, "startswith(x, 'abc')"),
        ("%abc", None, "endswith(x, 'abc')"),
        ("%abc%", None, "contains(x, 'abc')"),
        ("%%", None, "contains(x, '')"),
        ("%", None, "patterns.is_like(x, '%')"),
        ("a%c", None, "patterns.is_like(x, 'a%c')"),
        ("a_c", None, "patterns.is_like(x, 'a_c')"),
        ("5!%", "!", "(x = '5%')"),
        ("5!%%", "!", "startswith(x, '5%')"),
        ("!a!!!", "!", "(x = 'a!')"),
        (r"a\%", None, r"startswith(x, 'a\\')"),
        (r"a\_%_", None, r"patterns.is_like(x, 'a\\\\_%_')"),
        ("it's%", None, r"startswith(x, 'it\'s')"),
    ],
)
def test_a_pattern_becomes_the_plainest_comparison(
    pattern: str, escape: str | None, sql: str
) -> None:
    assert like_sql("x", pattern, escape) == sql


@given(
    text=st.text("ab%_\\!\né😀", max_size=6),
    pattern=st.text(SIGNS, max_size=8),
    escape=st.sampled_from(ESCAPES),
)
def test_every_escape_is_written_as_a_backslash(
    text: str, pattern: str, escape: str | None
) -> None:
    assert is_like(text, canonical_like(pattern, escape), "\\") == is_like(text, pattern, escape)
