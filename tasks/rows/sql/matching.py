r"""SQL of pattern matching whose time is bounded, whatever pattern a user wrote.

    LIKE ──► one comparison, or patterns.is_like        time: at most text x pattern
    regex ─► patterns.has_match, group_of, replaced, split_at       Java's, with counted steps

Spark's LIKE and RLIKE are Java's regular expressions.  These may take an exponential time, and do
not notice that their job was cancelled: a Spark thread would be lost for good.  The functions are a
catalog of Spark, made from `tasks/ingest/java/Patterns.java` (docs/adr/0042).  Pure.
"""

from tasks.rows.sql.text import text

_ANY = "%"
_ONE = "_"
_ESCAPE = "\\"


def search_sql(x: str, pattern: str) -> str:
    """Return BOOLEAN: a regular expression is found in the text `x`; null of null."""
    return f"patterns.has_match({x}, {text(pattern)})"


def group_sql(x: str, pattern: str, number: int) -> str:
    """Return STRING: a group of the first match in `x`; null without a match.

    A group that took no part in the match is an empty text.
    """
    return f"patterns.group_of({x}, {text(pattern)}, {number})"


def replace_sql(x: str, pattern: str, replacement: str) -> str:
    """Return STRING: `x` with each match replaced; null of null."""
    return f"patterns.replaced({x}, {text(pattern)}, {text(replacement)})"


def split_sql(x: str, pattern: str) -> str:
    """Return ARRAY<STRING>: `x` divided at each match; empty ends are kept; null of null."""
    return f"patterns.split_at({x}, {text(pattern)})"


def like_sql(x: str, pattern: str, escape: str | None) -> str:
    """Return BOOLEAN: the whole text `x` is like a pattern of `%` and `_`; null of null.

    The character behind `escape` is meant literally.  Without an escape there is none.
    """
    signs = _signs(pattern, escape)
    inner = signs[1:-1] if len(signs) > 1 else signs
    if _ONE in signs or _ANY in inner:
        return f"patterns.is_like({x}, {text(canonical_like(pattern, escape))})"
    plain = text("".join(sign[-1] for sign in signs if sign != _ANY))
    match signs[:1] == [_ANY], signs[-1:] == [_ANY]:
        case True, True:
            return f"contains({x}, {plain})"
        case True, False:
            return f"endswith({x}, {plain})"
        case False, True:
            return f"startswith({x}, {plain})"
        case _:
            return f"({x} = {plain})"


def canonical_like(pattern: str, escape: str | None) -> str:
    r"""Write a pattern with `\` as the escape, and only before `%`, `_` and `\`."""
    return "".join(_signs(pattern, escape))


def _signs(pattern: str, escape: str | None) -> list[str]:
    r"""Return the characters of a pattern; those that are meant literally, and need it, behind `\`.

    An escape at the end stands for nothing, as in Druid.
    """
    signs, is_literal = list[str](), False
    for sign in pattern:
        if sign == escape and not is_literal:
            is_literal = True
            continue
        special = sign == _ESCAPE or (is_literal and sign in {_ANY, _ONE})
        signs.append(_ESCAPE + sign if special else sign)
        is_literal = False
    return signs
