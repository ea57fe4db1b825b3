"""Tolerant reading of responses from an overlord of another release.

The API answers with the models of this package.  A client reads the same model through `lenient`.
A member that a newer overlord adds is ignored, and a value that it adds to an enum is read as text.
A member that an older overlord does not have yet is empty, except that an id is always required.
"""

import functools
import operator
from collections.abc import Mapping
from enum import Enum
from types import GenericAlias, MappingProxyType, NoneType, UnionType
from typing import Annotated, Literal, TypeVar, Union, cast, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, Field, JsonValue, create_model
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUseDefault

T = TypeVar("T")

_ID = "id"
"""The one member that is always required."""

_EMPTY: Mapping[object, object] = MappingProxyType(
    {str: "", int: 0, float: 0.0, bool: False, list: [], tuple: (), dict: {}, JsonValue: None}
)


def lenient(kind: type[T], *, whole: bool = False) -> type[T]:
    """Return a tolerant subtype of `kind`, which is a model or a list of models.

    `whole`: members that `kind` requires are required, and unknown enum values are refused.  This
    is for responses that prove something only if all of the response is understood.
    """
    return cast("type[T]", _loose(kind, whole))


def _loose(kind: object, whole: bool) -> object:
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return _model(kind, whole)
    if _is_choice(kind) and not whole:
        return Annotated[Union[kind, str], Field(union_mode="left_to_right")]  # noqa: UP007 -- made at run time
    origin, parts = get_origin(kind), get_args(kind)
    if not parts:
        return kind
    if origin is Annotated:
        return Annotated[(_loose(parts[0], whole), *parts[1:])]
    loose = tuple(_loose(part, whole) for part in parts)
    if origin in {Union, UnionType}:
        return functools.reduce(operator.or_, loose)
    return cast("GenericAlias", origin)[loose]


class _Tolerant:
    """Base that makes a tolerant model equal to an instance of the strict model."""

    def __eq__(self, other: object) -> bool:
        related = isinstance(other, type(self)) or isinstance(self, type(other))
        return related and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]  # pydantic makes one of the fields


@functools.cache
def _model(model: type[BaseModel], whole: bool) -> type[BaseModel]:
    fields = {n: _field(field, whole=whole or n == _ID) for n, field in model.model_fields.items()}
    tolerant = create_model(  # type: ignore[call-overload]  # its fields are known at run time
        model.__name__,
        __base__=(_Tolerant, model),
        __module__=model.__module__,
        __cls_kwargs__={"extra": "ignore"},
        **fields,
    )
    return cast("type[BaseModel]", tolerant)


def _field(field: FieldInfo, *, whole: bool) -> object:
    more: tuple[object, ...]
    if not field.is_required():
        default = functools.partial(field.get_default, call_default_factory=True)
        more = (Field(alias=field.alias, default_factory=default),)
        if not whole and NoneType not in get_args(field.annotation):
            more = (*more, BeforeValidator(_not_null))
    elif whole or not _has_empty(field.annotation):
        more = (Field(alias=field.alias),)
    else:
        empty = functools.partial(_empty, field.annotation)
        more = (Field(alias=field.alias, default_factory=empty), BeforeValidator(_not_null))
    return Annotated[(_loose(field.annotation, whole), *field.metadata, *more)]


def _is_choice(kind: object) -> bool:
    return (isinstance(kind, type) and issubclass(kind, Enum)) or get_origin(kind) is Literal


def _has_empty(kind: object) -> bool:
    """Whether a type has an empty value; an instant has none."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        fields = kind.model_fields.items()
        return all(
            not f.is_required() or (n != _ID and _has_empty(f.annotation)) for n, f in fields
        )
    return _is_choice(kind) or NoneType in get_args(kind) or (get_origin(kind) or kind) in _EMPTY


def _empty(kind: object) -> object:
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return _model(kind, whole=False).model_validate({})
    return "" if _is_choice(kind) else _EMPTY.get(get_origin(kind) or kind)


def _not_null(value: object) -> object:
    """Treat null as an absent member, which then gets its default: null if the type allows it."""
    if value is None:
        raise PydanticUseDefault
    return value
