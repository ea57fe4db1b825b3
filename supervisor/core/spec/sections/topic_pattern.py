r"""The `topicPattern` of a spec: a regular expression over topic names, matched in linear time.

    or     := chain ('|' chain)*                  chain := (atom ('*' | '+' | '?' | '{m,n}')?)*
    atom   := character | '.' | '\' sign | '[' class ']' | '(' or ')' | '(?:' or ')'

This grammar has the same meaning in Java and Python; any other syntax is refused.  A backtracking
engine would let one spec stop the whole overlord.  So the expression becomes Glushkov's automaton:
one state per character of the pattern, and a set of states per character of a name.
"""

import string
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from supervisor.core.values.field_types import shown, wrong

LENGTH_MAX = 500
STATES_MAX = 2_000
"""Characters of a pattern after expanding its counted repeats."""
REPEAT_MAX = 249
"""The maximum length of a topic's name."""
_ALPHABET = frozenset(string.ascii_letters + string.digits + "._-")
_DIGITS = frozenset(string.digits)
_WORD = frozenset(string.ascii_letters + string.digits + "_")
_CLASSES = {
    "d": _DIGITS,
    "D": _ALPHABET - _DIGITS,
    "w": _WORD,
    "W": _ALPHABET - _WORD,
}
_HINT = "literals, . [a-z] (a|b) and * + ? {m,n} are understood; for example orders-.*"


@dataclass(frozen=True)
class _Part:
    """A part of the automaton: its first and last states, and whether it matches the empty text."""

    empty: bool
    first: frozenset[int]
    last: frozenset[int]


_NOTHING = _Part(empty=True, first=frozenset(), last=frozenset())


class TopicPattern:
    """One compiled pattern."""

    def __init__(self, text: str) -> None:
        """Compile the pattern.

        Raises:
            PydanticCustomError: the text is no regular expression, or uses other syntax.
        """
        if not 0 < len(text) <= LENGTH_MAX:
            raise wrong(f"a topicPattern has 1 to {LENGTH_MAX} characters", _HINT)
        self._text = text.removesuffix("$")  # ^ and $ have no effect: the whole name has to match
        self._at = 1 if text.startswith("^") else 0
        self._signs: list[frozenset[str]] = []
        self._follow: list[set[int]] = []
        self._whole = self._read_or()
        if self._at < len(self._text):
            raise self._refused("this ) closes nothing")

    def matches(self, topic: str) -> bool:
        """Whether the pattern matches a topic's whole name."""
        if not topic:
            return self._whole.empty
        states: set[int] | frozenset[int] = self._whole.first
        reached: set[int] = set()
        for sign in topic:
            reached = {state for state in states if sign in self._signs[state]}
            states = set[int]().union(*(self._follow[state] for state in reached))
        return not reached.isdisjoint(self._whole.last)

    # ------------------------------------------------------------ reading

    @property
    def _next(self) -> str:
        return self._text[self._at : self._at + 1]

    def _take(self) -> str:
        sign = self._next
        if not sign:
            raise self._refused("it ends too early")
        self._at += 1
        return sign

    def _skip(self, text: str) -> bool:
        found = self._text.startswith(text, self._at)
        self._at += len(text) if found else 0
        return found

    def _refused(self, problem: str) -> Exception:
        return wrong(f"topicPattern {shown(self._text)}, at {self._at}: {problem}", _HINT)

    def _read_or(self) -> _Part:
        part = self._read_chain()
        while self._skip("|"):
            other = self._read_chain()
            part = _Part(
                part.empty or other.empty, part.first | other.first, part.last | other.last
            )
        return part

    def _read_chain(self) -> _Part:
        chain = _NOTHING
        while self._next not in {"", "|", ")"}:
            chain = self._chained(chain, self._read_repeated())
        return chain

    def _chained(self, one: _Part, two: _Part) -> _Part:
        for state in one.last:
            self._follow[state] |= two.first
        return _Part(
            empty=one.empty and two.empty,
            first=one.first | two.first if one.empty else one.first,
            last=one.last | two.last if two.empty else two.last,
        )

    def _read_repeated(self) -> _Part:
        begun = self._at
        atom = self._read_atom()
        if not self._next or self._next not in "*+?{":
            return atom
        least, most = self._read_times()
        after = self._at
        if self._next and self._next in "*+?{":
            raise self._refused("a repeat of a repeat, lazy or possessive")

        def again() -> _Part:
            self._at = begun
            copied = self._read_atom()
            self._at = after
            return copied

        return self._repeated(atom, again, least, most)

    def _repeated(
        self, atom: _Part, again: Callable[[], _Part], least: int, most: int | None
    ) -> _Part:
        """Write `atom{least,most}` out, with a copy of the atom for each time."""
        chain, copies = _NOTHING, max(least, most or 0, 1)
        for number in range(copies):
            each = atom if number == 0 else again()
            if most is None and number == copies - 1:
                for state in each.last:
                    self._follow[state] |= each.first
            if number >= least:
                each = _Part(empty=True, first=each.first, last=each.last)
            chain = self._chained(chain, each)
        return chain if most != 0 else _NOTHING

    def _read_times(self) -> tuple[int, int | None]:
        match self._take():
            case "*":
                return 0, None
            case "+":
                return 1, None
            case "?":
                return 0, 1
        least = self._read_number()
        most: int | None = least
        if self._skip(","):
            most = None if self._next == "}" else self._read_number()
        if self._take() != "}" or max(least, most or 0) > REPEAT_MAX:
            raise self._refused(f"a count is {{m}}, {{m,}} or {{m,n}}, at most {REPEAT_MAX}")
        if most is not None and most < least:
            raise self._refused(f"{most} is less than {least}")
        return least, most

    def _read_number(self) -> int:
        digits = ""
        while self._next and self._next in _DIGITS and len(digits) < len(str(REPEAT_MAX)):
            digits += self._take()
        if not digits:
            raise self._refused("a number is missing")
        return int(digits)

    def _read_atom(self) -> _Part:
        match sign := self._take():
            case "(":
                if not self._skip("?:") and self._next == "?":
                    raise self._refused("of groups, only (...) and (?:...) are understood")
                inner = self._read_or()
                if not self._skip(")"):
                    raise self._refused("a ) is missing")
                return inner
            case ".":
                return self._state(_ALPHABET)
            case "[":
                return self._state(self._read_class())
            case "\\":
                return self._state(self._read_escape())
            case "*" | "+" | "?" | "{":
                raise self._refused("there is nothing to repeat")
        return self._state(self._literal(sign))

    def _literal(self, sign: str) -> frozenset[str]:
        if sign not in _ALPHABET:
            raise self._refused(f"{shown(sign)} is in no topic's name")
        return frozenset({sign})

    def _read_escape(self) -> frozenset[str]:
        sign = self._take()
        if sign in _CLASSES:
            return _CLASSES[sign]
        if sign not in ".-":
            raise self._refused(f"\\{shown(sign)} is not understood")
        return frozenset({sign})

    def _read_class(self) -> frozenset[str]:
        negated = self._skip("^")
        characters: frozenset[str] = frozenset()
        while not self._skip("]"):
            low = self._read_of_class()
            if self._next == "-" and self._text[self._at + 1 : self._at + 2] not in {"]", ""}:
                self._at += 1
                high = self._read_of_class()
                if len(low) != 1 or len(high) != 1 or max(low) > max(high):
                    raise self._refused("this is no range")
                low = frozenset(s for s in _ALPHABET if max(low) <= s <= max(high))
            characters |= low
        if not characters:
            raise self._refused("a class is empty")
        return _ALPHABET - characters if negated else characters

    def _read_of_class(self) -> frozenset[str]:
        sign = self._take()
        return self._read_escape() if sign == "\\" else self._literal(sign)

    def _state(self, signs: frozenset[str]) -> _Part:
        if len(self._signs) >= STATES_MAX:
            raise self._refused("its repeats are too many")
        self._signs.append(signs)
        self._follow.append(set())
        only = frozenset({len(self._signs) - 1})
        return _Part(empty=False, first=only, last=only)


@lru_cache(maxsize=256)
def read_pattern(text: str) -> TopicPattern:
    """Return the compiled pattern, from a cache if possible.

    Raises:
        PydanticCustomError: see `TopicPattern`.
    """
    return TopicPattern(text)
