"""The `flattenSpec` of a format: the parts of a record that become fields."""

import re
from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, ValidationInfo, field_validator, model_validator

from supervisor.core.spec.problems import SpecProblems
from supervisor.core.spec.section import Section, Translate
from supervisor.core.values.field_types import FieldName, Flag, Text, shown, wrong
from tasks.rows.json_path import KEYS_MAX, JsonPathError, canonical

FIELDS_MAX = 2_000
_SIGNS = r"[^'\\\x00-\x1f]+"
"""Characters of a quoted key; a lone `*` is refused, because it would match every key."""


def _checked_path(path: str) -> str:
    try:
        return canonical(path)
    except JsonPathError:
        raise wrong(
            f"path {shown(path)} cannot be followed",
            "name keys and places, such as $.user.id, $.tags[0] or $['a b'], and $.items[*].id for "
            "what all of a list have; scans (..), slices, filters and functions are not built",
        ) from None


def _checked_key(key: str) -> str:
    if key == "*" or re.fullmatch(_SIGNS, key) is None:
        raise wrong(
            f"key {shown(key)} cannot be followed",
            "it must not be empty or *, nor hold a quote, a backslash or a control character",
        )
    return key


def without_repetition(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return `names` after checking that none is repeated.

    Raises:
        PydanticCustomError: a name is repeated.
    """
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise wrong(f"column {shown(twice[0])} is named twice", "name each value once")
    return names


Key = Annotated[Text, AfterValidator(_checked_key)]


def _without_jq(notes: SpecProblems, written: object, pointer: str) -> object:
    """Refuse fields of type jq; stand-ins replace them, so that the rest is still checked."""
    if not isinstance(written, list):
        return written
    fields: list[object] = []
    for number, field in enumerate(written):
        if isinstance(field, Mapping) and field.get("type") == "jq":
            hint = "use type path: $.user.id, or $.items[*].id for all of a list"
            notes.refuse(f"{pointer}/{number}/type", "jq is not built", hint)
            fields.append({"type": "root", **{k: v for k, v in field.items() if k == "name"}})
        else:
            fields.append(field)
    return fields


class FlattenField(Section):
    """One field of a record; a bare text is the name of a top-level key."""

    part, title = "flattenField", "a field of flattenSpec"
    bare = True

    type: Literal["root", "path", "tree"] = "root"
    name: FieldName
    expr: Text | None = None
    """Type path: the JSONPath of the value.  Type root: the key, if it differs from the name."""
    nodes: Annotated[tuple[Key, ...], Field(max_length=KEYS_MAX)] = ()
    """Type tree: the keys that lead to the value."""

    @field_validator("expr")
    @classmethod
    def _can_be_followed(cls, value: str | None, info: ValidationInfo) -> str | None:
        kind = info.data.get("type")
        if value is not None and kind == "path":
            return _checked_path(value)
        if value is not None and kind == "root" and value != info.data.get("name"):
            return _checked_key(value)
        return value

    @model_validator(mode="after")
    def _has_a_path(self) -> Self:
        if self.type == "path" and self.expr is None:
            raise wrong(f"field {shown(self.name)} has no expr", "give a path such as $.user.id")
        if self.type == "tree" and not self.nodes:
            raise wrong(f"field {shown(self.name)} has no nodes", 'give keys: ["user", "id"]')
        if self.type != "tree" and self.nodes:
            raise wrong(f"field {shown(self.name)} takes no nodes", "use type tree for them")
        if self.type == "tree" and self.expr is not None:
            raise wrong(f"field {shown(self.name)} takes no expr", "use type path for it")
        return self

    @property
    def path(self) -> str | None:
        """The JSONPath of the value; None: the field is the top-level key of its name.

        Source: Druid's JSONPathFieldSpec and JSONFlattenerMaker; there tree is of JSON alone.
        """
        if self.type == "path":
            return self.expr
        keys = self.nodes or (self.expr or self.name,)
        return None if keys == (self.name,) else "$" + "".join(f"['{key}']" for key in keys)


class FlattenSpec(Section):
    """The parts of a JSON record that become fields."""

    part = "flattenSpec"

    use_field_discovery: Flag = True
    """Whether every top-level key is a field as well."""
    fields: Annotated[
        tuple[FlattenField, ...], Field(max_length=FIELDS_MAX), Translate(_without_jq)
    ] = ()

    @field_validator("fields")
    @classmethod
    def _names_each_once(cls, value: tuple[FlattenField, ...]) -> tuple[FlattenField, ...]:
        without_repetition(tuple(field.name for field in value))
        return value
