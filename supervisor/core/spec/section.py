"""Base class of the sections of a spec: each field is declared once, beside Druid's other names.

    class IoConfig(Section):
        part = "ioConfig"
        others = {"stream": Alias("topic"), "pollTimeout": Ignored((100,))}
        topic: Annotated[Topic, RESTART_TASKS]
        exports: Annotated[Exports, OURS, HOT] = ()

A field is declared with its type and unit, its default, the effect of a change, and its origin.
`others` are Druid's names that no field reads.  Reading, the form that GET answers, the JSON
Schema, the reference pages and the effects of changes are all derived from the declarations.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum
from functools import cache
from types import MappingProxyType, UnionType
from typing import Annotated, ClassVar, Union, get_args, get_origin

from pydantic import model_validator
from pydantic.fields import FieldInfo

from supervisor.core.spec.problems import SpecProblems
from tasks.contract.wire import Wire


class Effect(StrEnum):
    """How much a change disturbs, the least first."""

    HOT = "hot"
    RESTART_SUPERVISOR = "restart-supervisor"
    RESTART_TASKS = "restart-tasks"


class Origin(Enum):
    """The origin of a field: Druid unless declared otherwise."""

    TIDEGATE = "ours"


class Unit(StrEnum):
    """The unit of a number; the units of durations and times follow from the field's type."""

    ROWS = "rows"
    RECORDS = "records"
    BYTES = "bytes"
    MILLIS = "milliseconds"
    TASKS = "tasks"
    GROUPS = "task groups"
    DURATION = "ISO 8601 duration"
    TIME = "ISO 8601 time"


HOT, RESTART_TASKS = Effect.HOT, Effect.RESTART_TASKS
OURS = Origin.TIDEGATE


@dataclass(frozen=True)
class Translate:
    """A translation of a field's value before its type reads it; notes and drops refused values."""

    by: Callable[[SpecProblems, object, str], object]
    """(notes, value, pointer) -> the value in the form that the field's type accepts."""


@dataclass(frozen=True)
class Ignored:
    """A field without effect: accepted, with a warning unless its value is in `silent`."""

    silent: tuple[object, ...]
    """Values that request nothing, as null does; nulls and [] inside an object do not count."""
    instead: str = "it is accepted and ignored"
    """What happens instead, for the warning about other values."""
    answers: tuple[object, ...] = ()
    """The one value that GET writes; empty: GET leaves the field out."""


@dataclass(frozen=True)
class Unsupported:
    """A feature of Druid that Tidegate lacks: refused unless the value is in `silent`."""

    instead: str
    """What to do instead."""
    silent: tuple[object, ...] = ()
    answers: tuple[object, ...] = ()


@dataclass(frozen=True)
class Switched:
    """An unsupported section, which is ignored if its own `flag` switches it off."""

    flag: str
    instead: str
    answers: tuple[object, ...] = ()


@dataclass(frozen=True)
class Fixed:
    """A field with one allowed value."""

    value: str
    answers: tuple[object, ...] = ()


@dataclass(frozen=True)
class Alias:
    """A second name of a field, which Druid writes: both values must agree; GET writes both."""

    of: str


@dataclass(frozen=True)
class Older:
    """An older form, which is translated into other fields before these are read."""

    read_as: str


@dataclass(frozen=True)
class Holder:
    """An object that may hold the sections; they may also be beside it."""

    of: "type[Section]"


Other = Ignored | Unsupported | Switched | Fixed | Alias | Older | Holder


class Section(Wire):
    """An object of a spec's document; names on the wire are Druid's, except for fields `OURS`."""

    part: ClassVar[str]
    """The section's name in the JSON Schema."""
    title: ClassVar[str] = ""
    """The section's name in the reference; empty: the same as `part`."""
    others: ClassVar[MappingProxyType[str, Other]] = MappingProxyType({})
    """Name on the wire that no field reads -> its treatment."""
    stored_only: ClassVar[frozenset[str]] = frozenset()
    """Fields that stored specs may have and documents may not."""
    bare: ClassVar[bool] = False
    """Whether a bare text is accepted for an object with that `name`."""

    @model_validator(mode="before")
    @classmethod
    def _read_bare_name(cls, value: object) -> object:
        return {"name": value} if cls.bare and isinstance(value, str) else value

    @classmethod
    def by_type(cls) -> "Mapping[str, type[Section]]":
        """Return type -> declaration, if the model reads objects of several types."""
        return {}

    @classmethod
    def declared_for(cls, written: Mapping[str, object]) -> "type[Section]":
        """Return the declaration that applies to an object, by its `type` if need be."""
        del written
        return cls

    @classmethod
    def check(
        cls,
        notes: SpecProblems,
        written: Mapping[str, object],
        kept: dict[str, object],
        pointer: str,
    ) -> None:
        """Note errors that depend on several fields; `kept` is what the model will read.

        Use this instead of a validator if the error belongs to one of the fields, and if it has to
        be reported together with the errors of other fields.
        """

    def normalised(self) -> dict[str, object]:
        """Return the section as GET writes it: each field, and Druid's other names."""
        inner: dict[str, object] = {}
        for attribute, value in self:
            if isinstance(value, Section):
                inner[attribute] = value.normalised()
            elif isinstance(value, tuple) and any(isinstance(each, Section) for each in value):
                inner[attribute] = [each.normalised() for each in value]
        plain = self.model_dump(mode="json", exclude=set(inner))
        fields = type(self).model_fields
        whole = plain | {str(fields[name].alias): value for name, value in inner.items()}
        shown = {name: whole[name] for name in read_fields(type(self))}
        return shown | answers_of(type(self), shown)


Declaration = type[Section]


def answers_of(model: type[Section], whole: Mapping[str, object]) -> dict[str, object]:
    """Return name -> value that GET writes for names that no field reads; `whole`: the fields."""
    answers: dict[str, object] = {}
    for name, other in model.others.items():
        if isinstance(other, Alias):
            answers[name] = whole[other.of]
        elif not isinstance(other, Older | Holder) and other.answers:
            [answers[name]] = other.answers
    return answers


@cache
def read_fields(model: type[Section]) -> Mapping[str, FieldInfo]:
    """Return name on the wire -> field, of all fields that a document may have."""
    named = {field.alias or name: field for name, field in model.model_fields.items()}
    read = {name: field for name, field in named.items() if name not in model.stored_only}
    return MappingProxyType(read)


def homes_of(sections: Mapping[str, type[Section]]) -> Mapping[str, str]:
    """Return name of a field -> the section that reads it, such as `dataSchema.granularitySpec`.

    Only for names that one section alone reads; a `type` may be of anything.
    """
    homes: dict[str, set[str]] = {}
    for path, model in sections.items():
        for name, home in _fields_within(model, path):
            homes.setdefault(name, set()).add(home)
    return MappingProxyType({name: min(of) for name, of in homes.items() if len(of) == 1})


def _fields_within(model: type[Section], path: str) -> Iterator[tuple[str, str]]:
    for name, field in read_fields(model).items():
        if name != "type":
            yield name, path
        inner = inner_of(field)
        if inner is not None and not inner.listed and inner.kinds is None:
            yield from _fields_within(inner.models[0], f"{path}.{name}")


def known_names(model: type[Section]) -> tuple[str, ...]:
    """Return every name that an object may have, those with an effect first."""
    return tuple(dict.fromkeys((*read_names(model), *model.others)))


def read_names(model: type[Section]) -> list[str]:
    """Return the names that are read, sorted."""
    holders = (name for name, other in model.others.items() if isinstance(other, Holder))
    return sorted({*read_fields(model), *holders})


@dataclass(frozen=True, eq=False)  # an annotation has to be hashable
class Kinds:
    """Error messages for an object whose `type` is not supported."""

    part: str
    """The name of the choice in the JSON Schema."""
    unknown: str
    """The message without the type's name: `is no aggregator`."""
    unsupported: Mapping[str, tuple[str, str]]
    """Druid's other types -> (message, hint)."""
    many: bool = False
    """Whether the hint names the nearest types only, because there are too many."""


@dataclass(frozen=True)
class Inner:
    """The sections in a field: one section, or several, of which an object's `type` selects one."""

    models: tuple[type[Section], ...]
    listed: bool
    """Whether the field holds a list of objects."""
    kinds: Kinds | None

    @property
    def part(self) -> str:
        """The name in the JSON Schema."""
        return self.models[0].part if self.kinds is None else self.kinds.part

    @property
    def by_type(self) -> dict[str, type[Section]]:
        """Type -> section; empty: there is one section for every type."""
        if self.kinds is None:
            return dict(self.models[0].by_type())
        return {kind: model for model in self.models for kind in _types_of(model)}


def inner_of(field: FieldInfo) -> Inner | None:
    """Return the sections in a field; None: the field holds a plain value."""
    parts = [field.annotation, *field.metadata]
    leaves = [leaf for part in parts for leaf in _leaves(part)]
    models = [leaf for leaf in leaves if isinstance(leaf, type) and issubclass(leaf, Section)]
    if not models:
        return None
    kinds = next((leaf for leaf in leaves if isinstance(leaf, Kinds)), None)
    return Inner(tuple(models), get_origin(field.annotation) is tuple, kinds)


def _leaves(annotation: object) -> Iterator[object]:
    """Yield the parts of an annotation, metadata included."""
    if get_origin(annotation) in {Annotated, Union, UnionType, tuple}:
        for inner in get_args(annotation):
            yield from _leaves(inner)
    else:
        yield annotation


def _types_of(model: type[Section]) -> tuple[str, ...]:
    """Return the types that a model's objects may have."""
    literals = _leaves(model.model_fields["type"].annotation)
    return tuple(str(kind) for literal in literals for kind in get_args(literal))


def all_parts(model: Declaration) -> dict[str, Declaration]:
    """Return name -> section, of a section and of all inside it, in the order of the reference.

    Sections of a single model come before those that are selected by a type.
    """
    parts: dict[str, Declaration] = {model.part: model}
    within = [other.of for other in model.others.values() if isinstance(other, Holder)]
    held = [inner for field in read_fields(model).values() if (inner := inner_of(field))]
    for inner in sorted(held, key=lambda inner: inner.kinds is not None):
        within += inner.by_type.values() or inner.models
    for each in within:
        for part, section in all_parts(each).items():
            parts.setdefault(part, section)
    return parts
