"""Patterns that Java knows are read, with their groups; what is no pattern is told."""

import warnings

import pytest

from tasks.rows.sql.java_regex import PATTERN_MAX, Groups, RegexError, groups_of


@pytest.mark.parametrize(
    ("pattern", "groups"),
    [
        ("", 0),
        ("plain", 0),
        (r"(\d+) (?:x|(y))", 2),
        (r"(?<year>\d{4})-(?<month>\d\d)\k<year>", 2),
        (r"\((a)\)", 1),
        (r"\Q(a)(\E(b)", 1),
        (r"\Q(never ends", 0),
        (r"[(](a)[)\]](b)", 2),
        (r"[]()](a)", 1),
        (r"[^]()](a)", 1),
        (r"[a-z&&[^bc]](x)", 1),
        (r"a||b(c)", 1),
        (r"(a)(?i)(b)", 2),
        (r"(?i:a)(?=b)(?!c)(?<=d)(?<!e)(?>f)(g)", 1),
        (r"\p{L}\pN\P{IsLatin}\h\R\x{1F600}\cA\e(\u0041)\z", 1),
        (r"(a*+)b?+c++", 1),
    ],
)
def test_the_groups_of_a_pattern_are_counted(pattern: str, groups: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert groups_of(pattern).count == groups


@pytest.mark.parametrize("pattern", ["(", ")", "[a", "a{2,1}", "*a", "(?<n>a)(?<n>b)", "\\", r"\y"])
def test_what_is_no_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(RegexError):
        groups_of(pattern)


def test_a_pattern_has_a_longest_length() -> None:
    assert groups_of("(?<a>a)(b)") == Groups(2, frozenset({"a"}))
    assert groups_of("a" * PATTERN_MAX).count == 0
    with pytest.raises(RegexError, match="more than 2,000 characters"):
        groups_of("a" * (PATTERN_MAX + 1))
