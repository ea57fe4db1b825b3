"""Functions with patterns: LIKE, and Java's regular expressions.

Druid's and Spark's patterns are both Java's, so they mean the same.  A pattern that Java refuses
would fail a running job.  So a pattern is a literal and is parsed here first, with Python's rules,
which are nearly Java's: a construct of Java alone may be refused, with an error that says so.
"""

import re

from tasks.rows.expression.functions.given import Function, Given, table
from tasks.rows.expression.value import Value, of_text, of_truth
from tasks.rows.sql.java_regex import Groups, RegexError, groups_of
from tasks.rows.sql.matching import group_sql, like_sql, replace_sql, search_sql


def pattern(given: Given, place: int) -> tuple[str, Groups]:
    """Return a literal pattern, and its groups.

    Raises:
        ExpressionError: the argument is no literal, or no pattern.
    """
    written = given.literal_text(place, "the pattern")
    try:
        return written, groups_of(written)
    except RegexError as error:
        raise given.wrong(place, f"the pattern cannot be read: {error}", "correct it") from None


def _like(given: Given) -> Value:
    written = given.literal_text(1, "the pattern")
    escape = given.literal_text(2, "the escape") if given.has(2) else None
    if escape is not None and len(escape) != 1:
        raise given.wrong(2, "the escape of like must be one character", "write one")
    return of_truth(like_sql(given.text(0), written, escape))


def _regexp_like(given: Given) -> Value:
    written, _ = pattern(given, 1)
    return of_truth(search_sql(given.text(0), written))


def _regexp_extract(given: Given) -> Value:
    """A group that took no part in the match gives an empty text; in Druid null."""
    written, groups = pattern(given, 1)
    index = given.literal_whole(2, "the index") if given.has(2) else 0
    if not 0 <= index <= groups.count:
        raise given.wrong(2, f"the pattern has no group {index}", f"use 0 to {groups.count}")
    return of_text(group_sql(given.text(0), written, index))


def _regexp_replace(given: Given) -> Value:
    written, groups = pattern(given, 1)
    replacement = given.literal_text(2, "the replacement")
    _check_replacement(given, replacement, groups)
    return of_text(replace_sql(given.text(0), written, replacement))


def _check_replacement(given: Given, written: str, groups: Groups) -> None:
    """Refuse a replacement that Java would refuse only at run time.

    Raises:
        ExpressionError: the replacement is incomplete, or names a missing group.
    """
    for found in re.finditer(r"\\.|\$\d|\$\{(\w+)\}|([\\$])", written, re.DOTALL):
        word, group, open_end = found.group(), found.group(1), found.group(2)
        number = int(word[1]) if word[0] == "$" and word[1:].isdecimal() else 0
        if open_end or number > groups.count or (group and group not in groups.names):
            message = f"'{word}' names no group of the pattern"
            raise given.wrong(2, message, f"write \\{word[0]} for the character {word[0]}")


def checked_separator(given: Given, place: int) -> str:
    """Return a literal pattern to split at; as in Druid null counts as the empty pattern.

    Raises:
        ExpressionError: the argument is no literal, or no pattern.
    """
    is_null = given.literal(place) is None and not given.values[place].texts
    return "" if is_null else pattern(given, place)[0]


FUNCTIONS = table(
    Function("like(text, pattern[, escape])", 2, 3, _like),
    Function("regexp_like(text, pattern)", 2, 2, _regexp_like),
    Function("regexp_extract(text, pattern[, index])", 2, 3, _regexp_extract),
    Function("regexp_replace(text, pattern, replacement)", 3, 3, _regexp_replace),
)
