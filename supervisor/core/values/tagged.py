"""Unions of dataclasses as JSON: each member carries its name under `type`.

    Outcome = Annotated[Succeeded | Fails | Stopped, Tagged()]
    {"type": "fails", "error": {...}}

Without the name two members with the same fields, or with none, would be read as each other.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, get_args

from pydantic import GetCoreSchemaHandler, JsonValue, PlainSerializer
from pydantic_core import CoreSchema, core_schema

__all__ = ["SortedTexts", "Tagged", "tag_of"]

_TYPE = "type"

SortedTexts = Annotated[frozenset[str], PlainSerializer(sorted, return_type=list[str])]
"""A set whose JSON is the same in each process."""


def tag_of(member: type) -> str:
    """Return the name of a member in JSON: its class's, in lower case with hyphens."""
    return re.sub(r"(?<!^)(?=[A-Z])", "-", member.__name__).lower()


@dataclass(frozen=True)
class Tagged:
    """Marks a union of dataclasses, none of which has a field `type`."""

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Choose the member by its name, and write the name first."""
        members: tuple[type, ...] = get_args(source)

        def chosen(value: object) -> str | None:
            if isinstance(value, dict):
                name = value.get(_TYPE)
                return name if isinstance(name, str) else None
            return tag_of(type(value))

        def write(
            value: object, inner: core_schema.SerializerFunctionWrapHandler
        ) -> Mapping[str, JsonValue]:
            return {_TYPE: tag_of(type(value)), **inner(value)}

        return core_schema.tagged_union_schema(
            {tag_of(member): handler.generate_schema(member) for member in members},
            discriminator=chosen,
            serialization=core_schema.wrap_serializer_function_ser_schema(write),
        )
