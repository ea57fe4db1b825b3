"""The parts of an expression; equal parts of equal texts are equal, wherever they stand."""

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
    """Something of an expression."""

    at: int = field(compare=False)
    """Characters of the text before it."""


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
    """A field, or what a lambda is called with."""

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
    """What `map`, `filter` and their like do with each element."""

    names: tuple[str, ...]
    body: Node


@dataclass(frozen=True)
class Call(Node):
    """A function and what it is given; a lambda comes first."""

    function: str
    arguments: tuple[Node, ...]
