"""The parts of an expression; equal parts of equal texts are equal, wherever they stand."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

Scalar: TypeAlias = int | float | str | None


class Kind(StrEnum):
    """Type of a literal array's elements."""

    LONG = "LONG"
    DOUBLE = "DOUBLE"
    STRING = "STRING"


@dataclass(frozen=True)
class Part:
    """Something of an expression."""

    at: int = field(compare=False)
    """Characters of the text before it."""


@dataclass(frozen=True)
class Literal(Part):
    """A constant: a long, a double, a string, or null."""

    value: Scalar


@dataclass(frozen=True)
class ArrayLiteral(Part):
    """A constant array."""

    kind: Kind
    values: tuple[Scalar, ...]


@dataclass(frozen=True)
class Name(Part):
    """A field, or what a lambda is called with."""

    name: str


@dataclass(frozen=True)
class Unary(Part):
    """`-` or `!` before an operand."""

    operator: str
    operand: Part


@dataclass(frozen=True)
class Binary(Part):
    """An operator between two operands."""

    operator: str
    left: Part
    right: Part


@dataclass(frozen=True)
class Lambda(Part):
    """What `map`, `filter` and their like do with each element."""

    names: tuple[str, ...]
    body: Part


@dataclass(frozen=True)
class Call(Part):
    """A function and what it is given; a lambda comes first."""

    function: str
    arguments: tuple[Part, ...]
