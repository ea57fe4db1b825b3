"""Validation of Java regular expressions, because Java would refuse one only in a running job.

Syntax of Java alone is first translated to Python's, whose rules are nearly Java's.  A pattern that
Python still does not know is refused, even if Java may know it.  Pure.
"""

import re
from dataclasses import dataclass

PATTERN_MAX = 2_000
"""Most characters of one pattern."""

_WORDS = re.compile(
    r"""
      (?P<quoted> \\Q (?P<text> .*? ) (?: \\E | \Z ) )
    | (?P<kind>   \\[pP] (?: \{\w+\} | \w ) )
    | (?P<code>   \\x\{[0-9a-fA-F]{1,6}\} | \\c. | \\e )
    | (?P<back>   \\k<(?P<name>[A-Za-z]\w*)> )
    | (?P<escape> \\. )
    | (?P<flags>  \(\?[a-zA-Z]+\) )
    | (?P<group>  \(\?<(?=[A-Za-z]) )
    | (?P<odd>    \[ | \] | && | -- | ~~ | \|\| )
    | (?P<plain>  . )
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPES = {
    **dict.fromkeys((r"\h", r"\H", r"\v", r"\V", r"\R", r"\X"), r"\s"),
    r"\z": r"\Z",
    r"\G": r"\A",
}


class RegexError(ValueError):
    """A pattern that cannot be parsed; the text says why."""


@dataclass(frozen=True)
class Groups:
    """The capturing groups of a pattern."""

    count: int
    names: frozenset[str]
    """The names of the named groups."""


def groups_of(pattern: str) -> Groups:
    """Return the groups of a pattern.

    Raises:
        RegexError: the pattern is too long or invalid.
    """
    if len(pattern) > PATTERN_MAX:
        raise RegexError(f"it has more than {PATTERN_MAX:,} characters")
    try:
        known = re.compile(as_python(pattern))
    except (re.error, OverflowError, RecursionError) as error:
        raise RegexError(str(error)) from None
    return Groups(known.groups, frozenset(known.groupindex))


def as_python(pattern: str) -> str:
    """Translate a pattern to Python; it may match other texts, but it has the same groups."""
    pieces: list[str] = []
    begun: int | None = None  # where a class of characters begins
    for match in _WORDS.finditer(pattern):
        word = match.group()
        if match["odd"]:
            if begun is None:
                begun = len(pieces) if word == "[" else None
            elif word == "]" and "".join(pieces[begun:]) not in {"[", "[^"}:
                begun = None
            elif word != "]":  # nested, joined or intersected classes, which only Java has
                word = "\\" + word[0]
            pieces.append(word)
        else:
            pieces.append(_word(match))
    return "".join(pieces)


def _word(match: re.Match[str]) -> str:
    match match.lastgroup:
        case "quoted":
            return re.escape(match["text"])
        case "kind":
            return r"\w"
        case "code":
            return "x"
        case "back":
            return f"(?P={match['name']})"
        case "escape":
            return _ESCAPES.get(match.group(), match.group())
        case "flags":
            return ""
        case "group":
            return "(?P<"
        case _:
            return match.group()
