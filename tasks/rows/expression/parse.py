"""The parser: from a text to a tree.  Source: Druid's grammar of expressions, `Expr.g4`.

    binds most   - !    ^ (to the right)    * / %    + -    < <= > >= == !=    && ||   least

As in Druid, `&&` and `||` have the same precedence, and the sign of a number precedes `^`.
"""

import math

from tasks.rows.expression.errors import ExpressionError
from tasks.rows.expression.tokens import Sort, Token, tokens
from tasks.rows.expression.tree import (
    ArrayLiteral,
    Binary,
    Call,
    ElementType,
    Lambda,
    Literal,
    Name,
    Node,
    Scalar,
    Unary,
)

TEXT_MAX = 10_000
"""Most characters of one expression."""
DEPTH_MAX = 100
"""Most nested parts; far more would overflow the stack of code that walks through the tree."""
LONG_MAX = 2**63 - 1

_LEVELS = (("&&", "||"), ("<", "<=", ">", ">=", "==", "!="), ("+", "-"), ("*", "/", "%"), ("^",))
_BINDS = {sign: level for level, signs in enumerate(_LEVELS) for sign in signs}
_POWER = _BINDS["^"]


def parse(text: str) -> Node:
    """Return the tree of an expression.

    Raises:
        ExpressionError: the text is no expression; the error has its first wrong place.
    """
    if len(text) > TEXT_MAX:
        raise ExpressionError(
            f"an expression of {len(text):,} characters is too long",
            TEXT_MAX,
            f"use {TEXT_MAX:,} at most",
        )
    parser = _Parser(list(tokens(text)))
    found = parser.expression(0)
    parser.expect_end()
    return found


class _Parser:
    def __init__(self, words: list[Token]) -> None:
        self._words = words
        self._next = 0
        self._depth = 0

    @property
    def _word(self) -> Token:
        return self._words[self._next]

    def expect_end(self) -> None:
        if self._word.sort is not Sort.END:
            raise _unexpected(self._word, "an operator, or the end")

    def expression(self, least: int) -> Node:
        """Parse operands and operators, as long as an operator's precedence is at least `least`."""
        self._depth += 1
        if self._depth > DEPTH_MAX:
            raise ExpressionError(
                "too many parts inside each other", self._word.at, f"use {DEPTH_MAX} at most"
            )
        left = self._operand()
        while (binds := self._binds()) is not None and binds >= least:
            sign = self._take()
            right = self.expression(binds if binds == _POWER else binds + 1)
            left = Binary(sign.at, sign.text, left, right)
        self._depth -= 1
        return left

    def _binds(self) -> int | None:
        return _BINDS.get(self._word.text) if self._word.sort is Sort.SIGN else None

    def _operand(self) -> Node:
        word = self._take()
        match word.sort:
            case Sort.LONG | Sort.DOUBLE | Sort.STRING | Sort.NULL:
                return Literal(word.at, _value(word))
            case Sort.NAME:
                return self._call(word) if self._is("(") else Name(word.at, word.text)
            case Sort.TYPE:
                return self._array(word)
            case Sort.SIGN if word.text in {"-", "!"}:
                return self._signed(word)
            case Sort.SIGN if word.text == "(":
                inner = self.expression(0)
                self._expect(")")
                return inner
            case Sort.SIGN if word.text == "[":
                self._next -= 1
                return self._array(None)
            case _:
                raise _unexpected(word, "a value")

    def _signed(self, sign: Token) -> Node:
        word = self._word
        if sign.text == "-" and word.sort is Sort.LONG and int(word.text) == LONG_MAX + 1:
            self._take()
            return Literal(sign.at, -LONG_MAX - 1)  # the one long without a positive counterpart
        self._depth += 1
        if self._depth > DEPTH_MAX:
            raise ExpressionError("too many signs in a row", sign.at, f"use {DEPTH_MAX} at most")
        operand = self._operand()
        self._depth -= 1
        return Unary(sign.at, sign.text, operand)

    def _call(self, name: Token) -> Call:
        self._expect("(")
        arguments: list[Node] = []
        while not self._is(")"):
            if arguments:
                self._expect(",")
            given = self._lambda() if self._begins_lambda() else self.expression(0)
            if isinstance(given, Lambda) and arguments:
                raise ExpressionError("a lambda comes first", given.at, "put it before the arrays")
            arguments.append(given)
        self._expect(")")
        return Call(name.at, name.text, tuple(arguments))

    def _begins_lambda(self) -> bool:
        ahead = self._next
        if self._word.sort is Sort.NAME:
            ahead += 1
        elif self._is("("):
            while self._words[ahead].sort is not Sort.END and self._words[ahead].text != ")":
                ahead += 1
            ahead += 1
        return ahead < len(self._words) and self._words[ahead].text == "->"

    def _lambda(self) -> Lambda:
        at, names = self._word.at, list[str]()
        if self._word.sort is Sort.NAME:
            names.append(self._take().text)
        else:
            self._expect("(")
            while not self._is(")"):
                if names:
                    self._expect(",")
                names.append(self._name())
            self._expect(")")
        self._expect("->")
        if len(set(names)) < len(names):
            raise ExpressionError("a lambda names a value twice", at, "give each a name of its own")
        return Lambda(at, tuple(names), self.expression(0))

    def _name(self) -> str:
        if self._word.sort is not Sort.NAME:
            raise _unexpected(self._word, "a name")
        return self._take().text

    def _array(self, of: Token | None) -> ArrayLiteral:
        at = self._word.at if of is None else of.at
        self._expect("[")
        elements: list[tuple[int, Scalar]] = []
        while not self._is("]"):
            if elements:
                self._expect(",")
            elements.append(self._element())
        self._expect("]")
        kind = _kind_of([value for _, value in elements]) if of is None else _kind_named(of)
        return ArrayLiteral(at, kind, tuple(_as_kind(value, kind, at) for at, value in elements))

    def _element(self) -> tuple[int, Scalar]:
        word = self._take()
        minus = word.sort is Sort.SIGN and word.text == "-"
        number = self._take() if minus else word
        wanted = {Sort.LONG, Sort.DOUBLE} if minus else _ELEMENTS
        if number.sort not in wanted:
            raise _unexpected(number, "a constant")
        value = _value(number)
        return word.at, -value if minus and isinstance(value, int | float) else value

    def _take(self) -> Token:
        word = self._word
        if word.sort is not Sort.END:
            self._next += 1
        return word

    def _is(self, sign: str) -> bool:
        return self._word.sort is Sort.SIGN and self._word.text == sign

    def _expect(self, sign: str) -> None:
        if not self._is(sign):
            raise _unexpected(self._word, f"'{sign}'")
        self._next += 1


def _unexpected(word: Token, wanted: str) -> ExpressionError:
    found = "the end" if word.sort is Sort.END else f"'{word.text}'"
    return ExpressionError(f"{found} is not expected", word.at, f"{wanted} should stand there")


_ELEMENTS = {Sort.LONG, Sort.DOUBLE, Sort.STRING, Sort.NULL}


def _value(word: Token) -> Scalar:
    match word.sort:
        case Sort.LONG:
            if (number := int(word.text)) > LONG_MAX:
                fix = "write it with a dot: a double"
                raise ExpressionError(f"{word.text} is too large for a long", word.at, fix)
            return number
        case Sort.DOUBLE:
            return math.inf if word.text == "Infinity" else float(word.text)
        case Sort.STRING:
            return word.text
        case _:
            return None


def _kind_named(word: Token) -> ElementType:
    return ElementType(word.text.removeprefix("ARRAY").strip("<>"))


def _kind_of(values: list[Scalar]) -> ElementType:
    """The type of an array without a prefix: in Druid's grammar an empty one has strings."""
    held = [value for value in values if value is not None]
    if not held or any(isinstance(value, str) for value in held):
        return ElementType.STRING
    return (
        ElementType.DOUBLE if any(isinstance(value, float) for value in held) else ElementType.LONG
    )


def _as_kind(value: Scalar, kind: ElementType, at: int) -> Scalar:
    if value is None or (kind is ElementType.STRING and isinstance(value, str)):
        return value
    if isinstance(value, str) or kind is ElementType.STRING:
        raise ExpressionError("an array holds values of one type", at, "make them alike")
    return int(value) if kind is ElementType.LONG else float(value)
