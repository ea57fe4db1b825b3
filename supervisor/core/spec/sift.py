"""Filtering of a document's objects by the declarations of their sections: names, nulls, aliases.

Each object is compared with the section that reads it.  Names without effect are left out and
noted.  The rest is the input of the section's model.
"""

from collections.abc import Mapping
from typing import assert_never

from pydantic.fields import FieldInfo

from supervisor.core.spec.problems import SpecProblems
from supervisor.core.spec.section import (
    Alias,
    Fixed,
    Holder,
    Ignored,
    Inner,
    Kinds,
    Older,
    Other,
    Section,
    Switched,
    Translate,
    Unsupported,
    inner_of,
    known_names,
    read_fields,
    read_names,
)
from supervisor.core.values.field_types import nearest, pointer_part, shown, unquoted


def sift(
    notes: SpecProblems, model: type[Section], written: Mapping[str, object], pointer: str
) -> dict[str, object]:
    """Return the fields of an object that its section reads, and likewise of all inner objects."""
    kept: dict[str, object] = {}
    fields = read_fields(model)
    for name, value in sift_names(notes, model, written, pointer).items():
        place = f"{pointer}/{pointer_part(name)}"
        kept[name] = _sift_value(notes, fields[name], value, place) if name in fields else value
        if place in notes.dropped:
            del kept[name]
    model.check(notes, written, kept, pointer)
    return kept


def sift_names(
    notes: SpecProblems, model: type[Section], written: Mapping[str, object], pointer: str
) -> dict[str, object]:
    """Return the fields of one object that its section reads, without nulls; note all others."""
    kept: dict[str, object] = {}
    fields = read_fields(model)
    for name, value in written.items():
        place = f"{pointer}/{pointer_part(name)}"
        other = None if name in fields else model.others.get(name)
        if name in fields or isinstance(other, Alias | Holder):
            if value is not None:
                kept[name] = value
        elif other is None:
            _refuse_unknown(notes, name, place, model)
        elif value is not None:
            _judge(notes, other, value, place)
    for name, other in model.others.items():
        if isinstance(other, Alias):
            _merge(notes, kept, name, other.of, pointer)
    return kept


def _sift_value(notes: SpecProblems, field: FieldInfo, value: object, place: str) -> object:
    for each in field.metadata:
        if isinstance(each, Translate):
            value = each.by(notes, value, place)
    inner = inner_of(field)
    if inner is None:
        return value
    if not inner.listed:
        return _sift_object(notes, inner, value, place)
    if not isinstance(value, list | tuple):
        return value
    places = [f"{place}/{number}" for number in range(len(value))]
    sifted = [_sift_object(notes, inner, each, at) for each, at in zip(value, places, strict=True)]
    if not notes.dropped.isdisjoint(places):
        notes.drop(place)
    return sifted


def _sift_object(notes: SpecProblems, inner: Inner, value: object, place: str) -> object:
    """Return an object sifted by its section; any other value stays, for its type to refuse."""
    if not isinstance(value, Mapping):
        return value
    if inner.kinds is None:
        return sift(notes, inner.models[0].declared_for(value), value, place)
    kind, known = value.get("type"), inner.by_type
    if isinstance(kind, str) and kind in known:
        return sift(notes, known[kind], value, place)
    notes.refuse(f"{place}/type", *_refused_type(inner.kinds, kind, tuple(known)))
    notes.drop(place)
    return value


def _refused_type(kinds: Kinds, kind: object, known: tuple[str, ...]) -> tuple[str, str]:
    """Return the message and the hint for a refused type."""
    one_of = f"use one of {', '.join(known)}"
    if kind is None:
        return "type is required", one_of
    if isinstance(kind, str) and kind in kinds.unsupported:
        wrong, hint = kinds.unsupported[kind]
        return wrong, hint if kinds.many else "; ".join(filter(None, (one_of, hint)))
    close = nearest(str(kind), known) if kinds.many else None
    return f"{shown(kind)} {kinds.unknown}", f"did you mean {close}?" if close else one_of


def _judge(notes: SpecProblems, other: Other, value: object, place: str) -> None:
    """Note an error or a warning for a name that no field reads."""
    name = place.rpartition("/")[2]
    match other:
        case Ignored():
            if not _is_one_of(value, other.silent):
                notes.warn(f"{place} has no effect here: {other.instead}")
        case Unsupported():
            if not _is_one_of(value, other.silent):
                notes.refuse(place, f"{name} {_quoted_word(value)}is not built yet", other.instead)
        case Switched():
            if isinstance(value, Mapping) and unquoted(value.get(other.flag)) in (None, False):
                notes.warn(f"{place} is switched off, so it has no effect: it is ignored")
            else:
                notes.refuse(place, f"{name} is not built yet", other.instead)
        case Fixed():
            if value != other.value:
                expected = other.value
                notes.refuse(place, f"must be {expected}, not {shown(value)}", f'"{expected}"')
        case Alias() | Older() | Holder():
            pass  # handled with the fields
        case _:
            assert_never(other)


def _refuse_unknown(notes: SpecProblems, name: str, place: str, model: type[Section]) -> None:
    hint = notes.home_hint(name)
    if not hint:
        close = None if notes.full else nearest(name, known_names(model))
        known = f"known fields: {', '.join(read_names(model))}"
        hint = f"did you mean {close}?" if close else known
    notes.refuse(place, f"unknown field {shown(name)}", hint)


def _merge(
    notes: SpecProblems, kept: dict[str, object], alias: str, name: str, pointer: str
) -> None:
    if alias in kept:
        value = kept.pop(alias)
        if kept.setdefault(name, value) != value:
            notes.refuse(
                f"{pointer}/{alias}",
                f"{alias} and {name} say different things",
                f"change {name} and leave {alias} out",
            )


def _quoted_word(value: object) -> str:
    """Return a short value for a message, such as `true`."""
    if isinstance(value, bool):
        return f"{value} ".lower()
    return f"{shown(value)} " if isinstance(value, str | int) else ""


def _is_one_of(value: object, silent: tuple[object, ...]) -> bool:
    """Whether a value requests nothing, being one of `silent`; 1 does not equal true."""
    if isinstance(value, Mapping):
        value = {k: v for k, v in value.items() if v is not None and v != []}
    meant = (value, unquoted(value))
    return any(type(v) is type(s) and v == s for v in meant for s in silent)
