"""How much work an expression may make with the values that it gets, judged before it begins.

The language has no loop without an end, but lists of lists of a large input come close to one.  The
bound is generous: what exceeds it would keep a partition, or a leader, busy for seconds.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import JsonValue

__all__ = ["WORK_MAX", "macros_in", "work_of"]

WORK_MAX = 256 * 1024 * 1024
"""Bytes that may be touched."""
_MACRO = re.compile(r"\b(?:all|exists|exists_one|filter|map)\s*(?=\(|//)")
_TEXT = re.compile(r"'[^'\"\\\n]*'|\"[^'\"\\\n]*\"")
_PATTERN = re.compile(r"\bmatches\b")
_SIGN = r"(?:[^'\"{\\]|\\[^xXuU0-7])"
_PLAIN_PATTERN = re.compile(rf"\bmatches\s*\(\s*r?(?:'{_SIGN}*'|\"{_SIGN}*\")\s*\)")
"""One that is written there, without counts."""
_OF_PATTERN = 10_000
"""A pattern with counts, or one that is given, may look this often at each sign."""
_STEP = re.compile(r"\bsteps\s*(?:\.\s*([A-Za-z_]\w*))?")
_NUMBER_BYTES = 8
_FEW_SUMS = 8
"""So many operands are no matter, whatever their size is."""


@dataclass
class _Size:
    """Of values: all their bytes, and the items of their largest list or map."""

    total: int = 0
    items: int = 1

    def add(self, value: JsonValue) -> None:
        rest: list[JsonValue] = [value]
        while rest:
            one = rest.pop()
            if isinstance(one, str):
                self.total += len(one)
            elif isinstance(one, list | dict):
                self.items = max(self.items, len(one))
                self.total += len(one)
                rest.extend(one.values() if isinstance(one, dict) else one)
            else:
                self.total += _NUMBER_BYTES


def macros_in(text: str) -> int:
    """Return how many times an expression goes through a list; a comment hides none."""
    return len(_MACRO.findall(text))


def work_of(text: str, variables: Mapping[str, JsonValue]) -> int:
    """Return an upper bound of the bytes that an expression touches; 0: it is small in any case."""
    depth, sums = _depth(text), text.count("+") + 1
    factor = 1 if len(_PLAIN_PATTERN.findall(text)) == len(_PATTERN.findall(text)) else _OF_PATTERN
    if not depth and sums <= _FEW_SUMS and factor == 1:
        return 0
    size = _Size(total=len(text), items=text.count(",") + 1)
    for name, value in variables.items():
        if re.search(rf"\b{re.escape(name)}\b", text):
            for part in _parts(name, value, text):
                size.add(part)
    times: int = size.items**depth
    return times * size.total * sums**2 * factor


def _parts(name: str, value: JsonValue, text: str) -> list[JsonValue]:
    """Return what an expression can see of a variable: of all steps only those that it names."""
    if name != "steps" or not isinstance(value, dict):
        return [value]
    named = {match[1] for match in _STEP.finditer(text)}
    return [value] if None in named else [value[each] for each in named if each in value]


def _depth(text: str) -> int:
    """Return how many macros lie within each other; where texts make that unsure, all of them."""
    macros = macros_in(text)
    code = _TEXT.sub("", text)
    if macros <= 1 or set(code) & set("'\"\\") or "//" in code or "'''" in text or '"""' in text:
        return macros
    deepest, open_ones = 0, list[bool]()
    starts = {match.end() for match in _MACRO.finditer(code)}
    for at, sign in enumerate(code):
        if sign == "(":
            open_ones.append(at in starts)
            deepest = max(deepest, sum(open_ones))
        elif sign == ")" and open_ones:
            open_ones.pop()
    return deepest
