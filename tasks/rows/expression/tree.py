"""The tree of an expression; parts of equal text are equal, wherever they are in an expression."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

Scalar: TypeAlias = int | float | str | None


class ElementType(StrEnum):
    """Type of a literal array's elements."""

    LONG = "LONG"
    DOUBLE = "DOUBLE"
    STRING = "STRING"


@dataclass(frozen=True)
class Node:
    """A part of an expression."""

    at: int = field(compare=False)
    """Number of characters before the part in the text."""


@dataclass(frozen=True)
class Literal(Node):
    """A constant: a long, a double, a string, or null."""

    value: Scalar


@dataclass(frozen=True)
class ArrayLiteral(Node):
    """A constant array."""

    kind: ElementType
    values: tuple[Scalar, ...]


@dataclass(frozen=True)
class Name(Node):
    """A field, or an argument of a lambda."""

    name: str


@dataclass(frozen=True)
class Unary(Node):
    """`-` or `!` before an operand."""

    operator: str
    operand: Node


@dataclass(frozen=True)
class Binary(Node):
    """An operator between two operands."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True)
class Lambda(Node):
    """The function that `map`, `filter` and the like apply to each element."""

    names: tuple[str, ...]
    body: Node


@dataclass(frozen=True)
class Call(Node):
    """A function call with its arguments; a lambda is the first argument."""

    function: str
    arguments: tuple[Node, ...]
