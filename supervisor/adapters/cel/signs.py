"""The signs of a CEL expression: names, numbers, texts, operators.

Source: the lexis of https://github.com/google/cel-spec/blob/master/doc/langdef.md#syntax.
"""

import re
from dataclasses import dataclass

from supervisor.core.executions.expressions import ValueKind

__all__ = ["Sign", "UnreadExpression", "signs_of"]

_SIGN = re.compile(
    r"""(?P<blank>\s+|//[^\n]*)
    |(?P<string>(?:[bB][rR]?|[rR][bB]?)?(?:'''(?:[^\\]|\\.)*?'''|\"\"\"(?:[^\\]|\\.)*?\"\"\"))
    |(?P<raw>(?:[bB][rR]|[rR][bB]?)(?:'[^'\n]*'|"[^"\n]*"))
    |(?P<text>[bB]?(?:'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"))
    |(?P<double>\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)
    |(?P<uint>(?:0[xX][0-9a-fA-F]+|\d+)[uU])
    |(?P<int>0[xX][0-9a-fA-F]+|\d+)
    |(?P<name>[A-Za-z_]\w*)
    |(?P<mark>&&|\|\||==|!=|<=|>=|[-+*/%<>!?:.,()\[\]{}])""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_WORDS = {"true": ValueKind.BOOL, "false": ValueKind.BOOL, "null": ValueKind.NULL}
_NUMBERS = {"int": ValueKind.INT, "uint": ValueKind.UINT, "double": ValueKind.DOUBLE}


class UnreadExpression(Exception):
    """An expression has something that is not read here; the library may know it all the same."""


@dataclass(frozen=True, slots=True)
class Sign:
    """One sign."""

    text: str
    kind: ValueKind | None = None
    """Of a literal; None: it is a name or an operator."""
    is_name: bool = False


def signs_of(text: str) -> list[Sign]:
    """Return the signs of an expression, without blanks and comments.

    Raises:
        UnreadExpression: there is another sign.
    """
    signs: list[Sign] = []
    at = 0
    while at < len(text):
        match = _SIGN.match(text, at)
        if match is None or match.lastgroup is None:
            raise UnreadExpression(f"{text[at]!r} is no sign")
        at = match.end()
        if match.lastgroup != "blank":
            signs.append(_sign(match[0], match.lastgroup))
    return signs


def _sign(text: str, group: str) -> Sign:
    if group == "name":
        return Sign(text, _WORDS.get(text), is_name=text not in _WORDS and text != "in")
    if group in _NUMBERS:
        return Sign(text, _NUMBERS[group])
    if group == "mark":
        return Sign(text)
    prefix = text[: min(text.find(quote) for quote in "'\"" if quote in text)]
    return Sign(text, ValueKind.BYTES if "b" in prefix.lower() else ValueKind.STRING)
