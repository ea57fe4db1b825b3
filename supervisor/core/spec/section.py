"""The base of every part of a spec: a part declares each of its fields once, beside Druid's others.

    class IoConfig(Section):
        part = "ioConfig"
        others = {"stream": Alias("topic"), "pollTimeout": Ignored((100,))}
        topic: Annotated[Topic, RESTART_TASKS]
        exports: Annotated[Exports, OURS, HOT] = ()

A field is declared with its type, which carries its unit, its default, what a change of it
disturbs, and whether Druid has it.  `others` are the names that Druid has and no field reads.
Reading, the form that GET answers, the JSON Schema, the reference pages and the classes of changes
are all made from this.
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
    """Who has invented a field; without a word it is Druid."""

    TIDEGATE = "ours"


HOT, RESTART_TASKS = Effect.HOT, Effect.RESTART_TASKS
OURS = Origin.TIDEGATE


@dataclass(frozen=True)
class Translate:
    """What reads a field's value before its type does; it notes what it refuses, and drops that."""

    by: Callable[[SpecProblems, object, str], object]
    """The value and its pointer -> the value as the field's type takes it."""


@dataclass(frozen=True)
class Ignored:
    """A field without a meaning here: it is accepted, with a warning unless its value is silent."""

    silent: tuple[object, ...]
    """Values that ask for nothing, as null does; nulls and [] within an object do not count."""
    instead: str = "it is accepted and ignored"
    """What happens in its place, where other values ask for something."""
    answers: tuple[object, ...] = ()
    """The one value that GET writes; empty: GET leaves the field out."""


@dataclass(frozen=True)
class Unsupported:
    """A field with a meaning that Tidegate does not have: refused unless its value is silent."""

    instead: str
    """What to do about it."""
    silent: tuple[object, ...] = ()
    answers: tuple[object, ...] = ()


@dataclass(frozen=True)
class Switched:
    """An unsupported section: one that its own flag switches off is taken for absent."""

    flag: str
    instead: str
    answers: tuple[object, ...] = ()


@dataclass(frozen=True)
class Fixed:
    """A field with one value that is allowed."""

    value: str
    answers: tuple[object, ...] = ()


@dataclass(frozen=True)
class Alias:
    """A second name of a field, which Druid writes: both must agree, and GET writes both."""

    of: str


@dataclass(frozen=True)
class Older:
    """An older form, read as other fields before any of them is looked at."""

    read_as: str


@dataclass(frozen=True)
class Holder:
    """An object that may hold the sections, which may also lie beside it."""

    of: "type[Section]"


Other = Ignored | Unsupported | Switched | Fixed | Alias | Older | Holder


class Section(Wire):
    """An object of a spec's document; its fields on the wire are Druid's unless they are ours."""

    part: ClassVar[str]
    """What the JSON Schema calls it."""
    title: ClassVar[str] = ""
    """What the reference calls it; empty: the same."""
    others: ClassVar[MappingProxyType[str, Other]] = MappingProxyType({})
    """Name on the wire -> what becomes of it, of names that no field reads."""
    stored_only: ClassVar[frozenset[str]] = frozenset()
    """Fields that stored specs have and no document may have."""
    bare: ClassVar[bool] = False
    """A text may be written for the object that has it for its name."""

    @model_validator(mode="before")
    @classmethod
    def _read_bare_name(cls, value: object) -> object:
        return {"name": value} if cls.bare and isinstance(value, str) else value

    @classmethod
    def by_type(cls) -> "Mapping[str, type[Section]]":
        """Return type -> declaration, of a model that reads objects of several types."""
        return {}

    @classmethod
    def declared_for(cls, written: Mapping[str, object]) -> "type[Section]":
        """Return the declaration that goes for an object."""
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
        """Note what only several fields say together; `kept` is what the model will read.

        Here and not in a validator where the error belongs to one of the fields, and where it is
        to come together with errors of others.
        """

    def normalised(self) -> dict[str, object]:
        """Return it as GET writes it: each field, and what Druid writes beside them."""
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
    """Return what GET writes of the names that no field reads; `whole` are the fields."""
    answers: dict[str, object] = {}
    for name, other in model.others.items():
        if isinstance(other, Alias):
            answers[name] = whole[other.of]
        elif not isinstance(other, Older | Holder) and other.answers:
            [answers[name]] = other.answers
    return answers


@cache
def read_fields(model: type[Section]) -> Mapping[str, FieldInfo]:
    """Return name on the wire -> field, of the fields that a document may have."""
    named = {field.alias or name: field for name, field in model.model_fields.items()}
    read = {name: field for name, field in named.items() if name not in model.stored_only}
    return MappingProxyType(read)


def known_names(model: type[Section]) -> tuple[str, ...]:
    """Return every name that an object may have, those that mean something first."""
    return tuple(dict.fromkeys((*read_names(model), *model.others)))


def read_names(model: type[Section]) -> list[str]:
    """Return the names that are read, sorted."""
    holders = (name for name, other in model.others.items() if isinstance(other, Holder))
    return sorted({*read_fields(model), *holders})


@dataclass(frozen=True, eq=False)  # an annotation has to be hashable
class Kinds:
    """How an object is refused whose `type` is none of those that are read."""

    part: str
    """What the JSON Schema calls the choice."""
    unknown: str
    """`NAME is no aggregator`: what is wrong, without the name."""
    unsupported: Mapping[str, tuple[str, str]]
    """Druid's other types -> what is wrong, and what to do."""
    many: bool = False
    """So many are known that the nearest is named, and not all."""


@dataclass(frozen=True)
class Inner:
    """What a field holds: objects of one section, or of the section that their `type` names."""

    models: tuple[type[Section], ...]
    listed: bool
    """The field holds a list of them."""
    kinds: Kinds | None

    @property
    def part(self) -> str:
        """What the JSON Schema calls it."""
        return self.models[0].part if self.kinds is None else self.kinds.part

    @property
    def by_type(self) -> dict[str, type[Section]]:
        """Type -> section; empty: there is one section, whatever the type is."""
        if self.kinds is None:
            return dict(self.models[0].by_type())
        return {kind: model for model in self.models for kind in _types_of(model)}


def inner_of(field: FieldInfo) -> Inner | None:
    """Return the sections that a field holds; None: it holds a plain value."""
    parts = [field.annotation, *field.metadata]
    leaves = [leaf for part in parts for leaf in _leaves(part)]
    models = [leaf for leaf in leaves if isinstance(leaf, type) and issubclass(leaf, Section)]
    if not models:
        return None
    kinds = next((leaf for leaf in leaves if isinstance(leaf, Kinds)), None)
    return Inner(tuple(models), get_origin(field.annotation) is tuple, kinds)


def _leaves(annotation: object) -> Iterator[object]:
    """Yield what an annotation is made of, metadata included."""
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
    """Return name -> section, of a section and of all within it, in the order of the reference.

    What one field holds comes before what is chosen by its type.
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
