"""The check of an expression before it runs: its names, its functions, the kinds of its values.

    signs ─► one pass by the grammar ─► Known of the whole
                  ├─ a name, a member or a function that is not there   refused, with the nearest
                  └─ an operator that no kinds of its operands suit     refused

It refuses what fails whatever the values are, and a comparison of two kinds that are never equal.
What nobody knows yet may be anything, and what this pass does not read it leaves to the library.
"""

from collections.abc import Iterable

from supervisor.adapters.cel.kinds import FUNCTIONS, called, operated, type_named, worded
from supervisor.adapters.cel.signs import Sign, UnreadExpression, signs_of
from supervisor.core.executions.expressions import ANY, ExpressionFailed, Kinds, Known, ValueKind
from supervisor.core.values.field_types import nearest

__all__ = ["checked"]

_LEVELS = (
    frozenset({"||"}),
    frozenset({"&&"}),
    frozenset({"==", "!=", "<", "<=", ">", ">=", "in"}),
    frozenset({"+", "-"}),
    frozenset({"*", "/", "%"}),
)
"""Operators, those that bind least first."""
_MACROS = {
    "all": frozenset({ValueKind.BOOL}),
    "exists": frozenset({ValueKind.BOOL}),
    "exists_one": frozenset({ValueKind.BOOL}),
    "filter": frozenset({ValueKind.LIST}),
    "map": frozenset({ValueKind.LIST}),
}
"""What goes through a list -> what it gives."""
_BOOL: Kinds = frozenset({ValueKind.BOOL})
_NUMBERS: Kinds = frozenset({ValueKind.INT, ValueKind.UINT, ValueKind.DOUBLE})
_CONVERT = "convert one of them: string(x), int(x), double(x), timestamp(x)"
_WITHOUT = "read it as it is, or name another value"
_ITEM = "`item` and `index` are there inside a forEach alone"
_DEPTH_MAX = 25
"""Of brackets; deeper ones are left to the library."""
_ANYTHING = Known()
_END = Sign("")


def checked(text: str, variables: Known) -> Kinds:
    """Return the kinds of value that an expression may give; it parses.

    Raises:
        ExpressionFailed: it has none.
    """
    try:
        return _Pass(signs_of(text), variables).whole().kinds
    except UnreadExpression:
        return ANY


class _Pass:
    """One pass over the signs of an expression."""

    def __init__(self, signs: list[Sign], variables: Known) -> None:
        self._signs = signs
        self._variables = variables
        self._own: list[str] = []
        """Names that macros around this place give."""
        self._at = self._depth = 0

    def whole(self) -> Known:
        value = self._expression()
        if self._at < len(self._signs):
            raise UnreadExpression(self._next.text)
        return value

    @property
    def _next(self) -> Sign:
        return self._signs[self._at] if self._at < len(self._signs) else _END

    def _takes(self, mark: str) -> bool:
        if self._next.text != mark:
            return False
        self._at += 1
        return True

    def _expect(self, mark: str) -> None:
        if not self._takes(mark):
            raise UnreadExpression(f"{mark} is expected")

    def _name(self) -> str:
        sign = self._next
        if not sign.is_name:
            raise UnreadExpression("a name is expected")
        self._at += 1
        return sign.text

    def _expression(self) -> Known:
        self._depth += 1
        if self._depth > _DEPTH_MAX:
            raise UnreadExpression("it is deep")
        value = self._binary(0)
        kinds: Kinds = frozenset()
        while self._takes("?"):
            _need_flag(value, "before `?`")
            kinds |= self._expression().kinds
            self._expect(":")
            value = self._binary(0)
        self._depth -= 1
        return Known(kinds | value.kinds) if kinds else value

    def _binary(self, level: int) -> Known:
        if level == len(_LEVELS):
            return self._unary()
        left = self._binary(level + 1)
        while self._next.text in _LEVELS[level]:
            operator = self._next.text
            self._at += 1
            left = Known(_joined(operator, left.kinds, self._binary(level + 1).kinds))
        return left

    def _unary(self) -> Known:
        signs: list[str] = []
        while self._next.text in {"!", "-"}:
            signs.append(self._next.text)
            self._at += 1
        value = self._member()
        for sign in reversed(signs):
            kinds = operated(f"{sign}{{}}", value.kinds)
            if not kinds:
                raise ExpressionFailed(f"`{sign}` does not take {worded(value.kinds)}", _CONVERT)
            value = Known(kinds)
        return value

    def _member(self) -> Known:
        value = self._primary()
        while True:
            if self._takes("."):
                name = self._name()
                value = self._method(name, value) if self._takes("(") else _part(value, name)
            elif self._takes("["):
                value = self._index(value)
            else:
                return value

    def _index(self, value: Known) -> Known:
        sign = self._next
        index = self._expression()
        self._expect("]")
        if not value.kinds & {ValueKind.LIST, ValueKind.MAP}:
            message = f"`[...]` is for a list or an object, and this is {_is(value)}"
            raise ExpressionFailed(message, _WITHOUT)
        is_text = self._signs[self._at - 2] is sign and sign.kind is ValueKind.STRING
        is_plain = is_text and sign.text[0] in "'\"" and "\\" not in sign.text
        if is_plain and ValueKind.MAP in value.kinds:
            return _part(value, sign.text[1:-1])
        if value.kinds == {ValueKind.LIST} and not index.kinds & {ValueKind.INT, ValueKind.UINT}:
            message = f"an item of a list has a number, and not {worded(index.kinds)}"
            raise ExpressionFailed(message, "count from 0: inputs.days[0]")
        return _ANYTHING

    def _primary(self) -> Known:
        sign = self._next
        self._at += 1
        if sign.kind is not None:
            return Known(frozenset({sign.kind}))
        if sign.is_name:
            return self._named(sign.text)
        match sign.text:
            case "(":
                value = self._expression()
                self._expect(")")
                return value
            case "[":
                self._listed("]")
                return Known(frozenset({ValueKind.LIST}))
            case "{":
                self._pairs()
                return Known(frozenset({ValueKind.MAP}))
            case _:
                raise UnreadExpression(sign.text)

    def _named(self, name: str) -> Known:
        if self._takes("("):
            if name == "has":
                self._listed(")")
                return Known(_BOOL)
            return _result(name, None, self._listed(")"))
        if self._next.text == "{":
            raise UnreadExpression("a message")
        if name in self._own:
            return _ANYTHING
        known = self._variables.members or {}
        if name not in known and (name == "optional" or type_named(name)):
            return _ANYTHING if name == "optional" else Known(frozenset({ValueKind.TYPE}))
        return _part(self._variables, name)

    def _method(self, name: str, owner: Known) -> Known:
        here, after = self._next, self._signs[self._at + 1 : self._at + 2]
        if name in _MACROS and here.is_name and after and after[0].text == ",":
            return self._macro(name, owner)
        return _result(name, owner, self._listed(")"))

    def _macro(self, name: str, owner: Known) -> Known:
        if not owner.kinds & {ValueKind.LIST, ValueKind.MAP}:
            message = f"`{name}` goes through a list, and this is {_is(owner)}"
            raise ExpressionFailed(message, "name a list or an object")
        self._own.append(self._name())
        values = []
        while self._takes(","):
            values.append(self._expression())
        self._expect(")")
        self._own.pop()
        if len(values) > (1 if name != "map" else 2):
            raise UnreadExpression(name)
        if name != "map" or len(values) > 1:
            _need_flag(values[0], f"in `{name}`")
        return Known(_MACROS[name])

    def _listed(self, end: str) -> list[Known]:
        values: list[Known] = []
        while not self._takes(end):
            values.append(self._expression())
            if self._next.text != end:
                self._expect(",")
        return values

    def _pairs(self) -> None:
        while not self._takes("}"):
            self._expression()
            self._expect(":")
            self._expression()
            if self._next.text != "}":
                self._expect(",")


def _is(value: Known) -> str:
    return worded(value.kinds)


def _need_flag(value: Known, where: str) -> None:
    if ValueKind.BOOL not in value.kinds:
        raise ExpressionFailed(
            f"{where} there must be true or false, and not {_is(value)}", "compare it: x > 0"
        )


def _joined(operator: str, left: Kinds, right: Kinds) -> Kinds:
    """Return what an operator may give between two values."""
    match operator:
        case "||" | "&&":
            _need_flag(Known(left), f"beside `{operator}`")
            _need_flag(Known(right), f"beside `{operator}`")
            return _BOOL
        case "==" | "!=":
            kinds = _BOOL if _may_equal(left, right) else frozenset[ValueKind]()
        case _:
            kinds = operated(f"{{}} {operator} {{}}", left, right)
    if not kinds:
        raise ExpressionFailed(
            f"`{operator}` does not take {worded(left)} and {worded(right)}",
            _CONVERT,
        )
    return kinds


def _may_equal(left: Kinds, right: Kinds) -> bool:
    if left & right or ValueKind.NULL in left | right:
        return True
    return bool(left & _NUMBERS and right & _NUMBERS)


def _part(value: Known, name: str) -> Known:
    """Return a member of an object."""
    if ValueKind.MAP not in value.kinds:
        message = f"`.{name}` is for an object, and this is {_is(value)}"
        raise ExpressionFailed(message, _ITEM if value.kinds == {ValueKind.NULL} else _WITHOUT)
    if value.members is None:
        return _ANYTHING
    if name not in value.members:
        message = value.missing.format(name=name)
        raise ExpressionFailed(message, _meant(name, value.members, value.hint))
    return value.members[name]


def _result(name: str, owner: Known | None, arguments: list[Known]) -> Known:
    """Return what a function gives."""
    if owner is not None and name not in FUNCTIONS and owner.kinds == ANY:
        return _ANYTHING if name in _OF_OPTIONALS else _unknown(name)
    if name not in FUNCTIONS:
        return _unknown(name)
    kinds = called(
        name, None if owner is None else owner.kinds, tuple(each.kinds for each in arguments)
    )
    if not kinds:
        given = ", ".join(map(_is, ([] if owner is None else [owner]) + arguments)) or "nothing"
        raise ExpressionFailed(f"`{name}` does not take {given}", _CONVERT)
    return _ANYTHING if name == "dyn" else Known(kinds)


_OF_OPTIONALS = {"of", "none", "ofNonZeroValue", "value", "hasValue", "or", "orValue"}


def _unknown(name: str) -> Known:
    known = (*FUNCTIONS, *_MACROS, "has")
    hint = f"known are {', '.join(sorted(known))}"
    raise ExpressionFailed(f"there is no function {name}", _meant(name, known, hint))


def _meant(name: str, known: Iterable[str], otherwise: str) -> str:
    close = nearest(name, known)
    return f"did you mean {close}?" if close else otherwise
