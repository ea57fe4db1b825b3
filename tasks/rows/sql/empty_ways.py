r"""How many ways a regular expression has to match nothing at one place of a text.  Pure.

Java's matcher is bounded by counting how often it reads a character (`Patterns.java`).  It reads
none while it tries the ways to match nothing: `(|)(|)(|)x` has 8 of them before it needs an `x`.
With thirty such groups the count would come too late, and a cancel as well.
"""

import re
from dataclasses import dataclass, field

from tasks.rows.sql.java_regex import as_python

WAYS_MAX = 1_000
"""Most ways that a pattern of a new spec may have."""

_CAP = 10**9
_VERBOSE = re.compile(r"\(\?[a-zA-Z]*x")
_SPACE = re.compile(r"\\.|\s+|#[^\n]*", re.DOTALL)
_PARTS = re.compile(
    r"""
      (?P<edge>  \(\?P=\w+\) | [\^$] | \\[bBAZzG1-9] )
    | (?P<look>  \(\?<?[=!] )
    | (?P<open>  \( (?: \?(?: [:>] | P<\w+> | [a-zA-Z-]+: ) )? )
    | (?P<close> \) )
    | (?P<or>    \| )
    | (?P<loop>  (?: (?P<none> [?*] | \{0*(?:,\d*)?\} ) | \+ | \{\d+(?:,\d*)?\} ) [?+]? )
    | (?P<one>   \\. | \[\^?\]?(?:\\.|[^\]\\])*\] | . )
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class _Counted:
    """A part of a pattern."""

    ways: int
    """Ways to match nothing; 0: it takes a character."""
    most: int
    """The most ways to match nothing anywhere within it, between two characters."""


_ONE, _EDGE = _Counted(0, 1), _Counted(1, 1)


@dataclass
class _Open:
    """A group whose end has not come yet; the whole pattern is one too."""

    is_look: bool = False
    branches: list[_Counted] = field(default_factory=list)
    parts: list[_Counted] = field(default_factory=list)

    def end_branch(self) -> None:
        ways, most, run = 1, 1, 1
        for part in self.parts:
            run = min(_CAP, run * part.most)
            most = max(most, run)
            ways = min(_CAP, ways * part.ways)
            run = run if part.ways else part.most  # a character was read: the count goes on
        self.branches.append(_Counted(ways, most))
        self.parts = []

    def end(self) -> _Counted:
        self.end_branch()
        ways = min(_CAP, sum(branch.ways for branch in self.branches))
        most = max(ways, *(branch.most for branch in self.branches))
        return _Counted(max(1, ways) if self.is_look else ways, most)


def empty_ways(pattern: str) -> int:
    """Return an upper bound of the ways, for a pattern that `groups_of` has accepted."""
    written = as_python(pattern)
    if _VERBOSE.search(pattern):  # white space and comments mean nothing then
        written = _SPACE.sub(lambda m: m.group() if m.group()[0] == "\\" else "", written)
    opened = [_Open()]
    for match in _PARTS.finditer(written):
        match match.lastgroup:
            case "look" | "open":
                opened.append(_Open(is_look=match.lastgroup == "look"))
            case "close" if len(opened) > 1:
                group = opened.pop().end()
                opened[-1].parts.append(group)
            case "or":
                opened[-1].end_branch()
            case "loop" | "none" if opened[-1].parts:
                opened[-1].parts[-1] = _repeated(opened[-1].parts[-1], match["none"] is not None)
            case "edge":
                opened[-1].parts.append(_EDGE)
            case _:
                opened[-1].parts.append(_ONE)
    while len(opened) > 1:
        group = opened.pop().end()
        opened[-1].parts.append(group)
    return opened[0].end().most


def _repeated(part: _Counted, may_be_none: bool) -> _Counted:
    """A loop ends with the first round that matches nothing."""
    ways = min(_CAP, part.ways + may_be_none)
    return _Counted(ways, max(ways, part.most))
