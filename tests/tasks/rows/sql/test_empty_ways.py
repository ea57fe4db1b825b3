"""Patterns that try many ways without a look at the text, which no count of looks bounds."""

import pytest

from tasks.rows.sql.empty_ways import WAYS_MAX, empty_ways


@pytest.mark.parametrize(
    ("pattern", "ways"),
    [
        ("", 1),
        ("abc", 1),
        ("a?b?c?", 1),
        ("a*a*a*b", 1),
        ("(ab)*(cd)?", 1),
        (r"(\d+)\.(\d+)|(x|y|z)", 1),
        ("(|)", 2),
        ("(|a|b*)", 2),
        ("(a*)?", 2),
        ("(|)(|)(|)", 8),
        ("(|)(|)(|)x", 8),
        ("(|)x(|)(|)", 4),
        ("(x(|)(|))(|)", 8),
        (r"(?:|)(?<n>|)\k<n>$", 4),
        ("(?i:|)(?>|)", 4),
        ("(?=(|)(|))", 4),
        ("(?=a)(?!b)(?<=c)", 1),
        ("((|)(|))+", 4),
        ("((|)(|))*", 5),
        ("((|){0,3}){0}", 4),
        (r"[(|)][|()\]]\Q(|)\E\(\|\)", 1),
        ("[a&&[(|)]](|)", 2),
        ("(?x)(|) (|) # a (|) comment\n (|)", 8),
    ],
)
def test_the_ways_to_match_nothing_are_counted(pattern: str, ways: int) -> None:
    assert empty_ways(pattern) == ways


def test_months_and_optional_words_have_few() -> None:
    months = "(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
    line = rf"^(\S+) (?:- )?\[(\d+)/{months}/(\d+)\] ?(?:\"(\S*)\s*(\S*)\")?(?:\s+.*)?$"
    assert empty_ways(line) < 10
    assert empty_ways(months * 100) == 1


@pytest.mark.parametrize(
    "pattern",
    [
        "(|)" * 30,
        "(a*)?" * 30 + "b",
        "(?:a?|b?)" * 30 + "c",
        "(?x)" + "(|) " * 30,
        "((|)" * 30 + ")" * 30,
    ],
)
def test_many_in_a_row_are_too_many(pattern: str) -> None:
    assert empty_ways(pattern) > WAYS_MAX
