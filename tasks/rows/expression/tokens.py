"""The lexer: the tokens of an expression.  Source: Druid's grammar of expressions, `Expr.g4`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

from tasks.rows.expression.errors import ExpressionError


class Sort(Enum):
    """The kind of a token."""

    LONG = auto()
    DOUBLE = auto()
    STRING = auto()
    NULL = auto()
    NAME = auto()
    TYPE = auto()
    """Before a literal array: `<LONG>`, or `ARRAY<LONG>`."""
    SIGN = auto()
    END = auto()


@dataclass(frozen=True)
class Token:
    """One token; `text` is its meaning: a string without its quotes."""

    sort: Sort
    text: str
    at: int


_ESCAPE = r"\\(?:['\"\\/bfnrt]|u[0-9a-fA-F]{4})"
_WORDS = re.compile(
    rf"""
      (?P<SPACE>  [ \t\r\n]+ )
    | (?P<DOUBLE> (?:NaN|Infinity)(?![\w$]) | \d+\.\d*(?:[eE]-?\d+)? | \d+[eE]-?\d+ )
    | (?P<LONG>   \d+ )
    | (?P<STRING> '(?:{_ESCAPE}|[^'\\])*' )
    | (?P<QUOTED> "(?:{_ESCAPE}|[^"\\])*" )
    | (?P<TYPE>   (?:ARRAY)?<(?:LONG|DOUBLE|STRING)>(?=\s*\[) )
    | (?P<NULL>   null(?![\w$]) )
    | (?P<NAME>   [A-Za-z_$][\w$]* )
    | (?P<SIGN>   -> | <= | >= | == | != | && | \|\| | [-!^*/%+<>(),\[\]] )
    """,
    re.VERBOSE | re.ASCII,
)
_MEANT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_FIXES = {
    "=": "write == to compare",
    "&": "write && for and",
    "|": "write || for or",
    "'": "end the string with '; write \\' for a quote inside it",
    '"': 'end the name with "; put strings between single quotes',
    ";": "write one expression",
}


def tokens(text: str) -> Iterator[Token]:
    """Yield the tokens of a text, and an END.

    Raises:
        ExpressionError: a character that begins no token.
    """
    at = 0
    while at < len(text):
        match = _WORDS.match(text, at)
        if match is None:
            raise ExpressionError(
                f"{text[at]!r} is not expected", at, _FIXES.get(text[at], "leave it out")
            )
        sort, word = match.lastgroup, match.group()
        assert sort is not None
        if sort == "QUOTED":
            yield Token(Sort.NAME, _unquoted(word, at), at)
        elif sort == "STRING":
            yield Token(Sort.STRING, _unquoted(word, at), at)
        elif sort != "SPACE":
            yield Token(Sort[sort], word, at)
        at = match.end()
    yield Token(Sort.END, "", at)


def _unquoted(word: str, at: int) -> str:
    halves = re.sub(_ESCAPE, _meant, word[1:-1])  # Java writes a character beyond \\uffff as two
    try:
        return halves.encode("utf-16-be", "surrogatepass").decode("utf-16-be")
    except UnicodeDecodeError as error:
        fix = "write both halves of its pair"
        raise ExpressionError("half of a character stands", at, fix) from error


def _meant(match: re.Match[str]) -> str:
    letter, code = match.group()[1], match.group()[2:]
    return chr(int(code, 16)) if letter == "u" else _MEANT.get(letter, letter)
