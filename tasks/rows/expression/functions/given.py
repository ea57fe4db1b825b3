"""A function of the language, and one call of it with its arguments."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tasks.rows.expression.errors import ExpressionError
from tasks.rows.expression.tree import Call, Lambda, Literal, Node, Scalar, Unary
from tasks.rows.expression.value import ArrayValue, Value, as_array, as_long, as_string


@dataclass(frozen=True)
class Given:
    """One call: its arguments as values, and as parts of the tree."""

    call: Call
    values: tuple[Value, ...]
    """One value per argument; for a lambda an empty value."""
    depth: int
    """The number of lambdas around the call."""
    body: Callable[[Lambda, Mapping[str, Value]], Value]
    """Compiles a lambda of this call for the values of its arguments."""

    @property
    def at(self) -> int:
        """The place of the call in the text."""
        return self.call.at

    @property
    def name(self) -> str:
        """The name of the function as the call spells it."""
        return self.call.function

    def part(self, place: int) -> Node | None:
        """Return an argument as a part of the tree; None if it is missing."""
        return self.call.arguments[place] if place < len(self.values) else None

    def has(self, place: int) -> bool:
        """Return whether the argument is present."""
        return place < len(self.values)

    def text(self, place: int) -> str:
        """Return STRING: an argument as a text."""
        return as_string(self.values[place])

    def whole(self, place: int, missing: int = 0) -> str:
        """Return BIGINT, never null: an argument as a whole number; as in Druid null is 0."""
        if place >= len(self.values):
            return f"{missing}L"
        known = self.literal(place)
        if isinstance(known, int):
            return f"({known}L)" if known < 0 else f"{known}L"
        return f"coalesce({as_long(self.values[place])}, 0L)"

    def array(self, place: int) -> ArrayValue:
        """Return an argument as an array."""
        return as_array(self.values[place])

    def function(self, arguments: int) -> Lambda:
        """Return the lambda of this call.

        Raises:
            ExpressionError: there is no lambda, or it takes another number of values.
        """
        part = self.call.arguments[0]
        if not isinstance(part, Lambda):
            fix = "write a lambda: x -> x + 1"
            raise ExpressionError(f"{self.name} needs a lambda", part.at, fix)
        if len(part.names) != arguments:
            message = f"the lambda of {self.name} needs {arguments} names, not {len(part.names)}"
            raise ExpressionError(message, part.at, "name each value it is called with")
        return part

    def literal(self, place: int) -> Scalar:
        """Return the value of a literal argument; None if it is null or not a literal."""
        part = self.part(place)
        if isinstance(part, Unary) and part.operator == "-" and isinstance(part.operand, Literal):
            number = part.operand.value
            return -number if isinstance(number, int | float) else None
        return part.value if isinstance(part, Literal) else None

    def literal_text(self, place: int, what: str) -> str:
        """Return a text that must be known at compile time.

        Raises:
            ExpressionError: the argument is not a literal text.
        """
        found = self.literal(place)
        if isinstance(found, str):
            return found
        raise self.wrong(place, f"{what} of {self.name} must be a literal text")

    def literal_whole(self, place: int, what: str) -> int:
        """Return a whole number that must be known at compile time.

        Raises:
            ExpressionError: the argument is not a literal whole number.
        """
        found = self.literal(place)
        if isinstance(found, int):
            return found
        raise self.wrong(place, f"{what} of {self.name} must be a literal whole number")

    def wrong(self, place: int, message: str, fix: str = "write it out") -> ExpressionError:
        """Return an error about an argument."""
        part = self.part(place)
        return ExpressionError(message, part.at if part else self.at, fix)


@dataclass(frozen=True)
class Function:
    """The facts about a function; `usage` begins with its name in Druid's spelling."""

    usage: str
    least: int
    most: int | None
    """Most arguments; None: any number."""
    make: Callable[[Given], Value]

    @property
    def name(self) -> str:
        """The name in Druid's spelling."""
        return self.usage.split("(", 1)[0]


def table(*functions: Function) -> dict[str, Function]:
    """Return name in small letters -> function, as Druid ignores case."""
    return {function.name.lower(): function for function in functions}
