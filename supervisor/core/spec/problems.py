"""What a reader notes while it goes through a document: errors with their place, warnings."""

import re
from collections.abc import Mapping
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from supervisor.core.spec.druid_fields import Table, Unbuilt
from supervisor.core.values.errors import FieldError
from supervisor.core.values.field_types import nearest, pointer_part, shown, unquoted

NOTES_MAX = 100
"""Errors, and warnings, that one document gets: the rest would help nobody."""
_TYPES = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "bool_type": "true or false",
    "string_type": "a text",
    "tuple_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
}
_HINTS = {
    "topic": "name the Kafka topic to read",
    "inputFormat": 'give {"type": "json"}',
    "dataSource": "name the table",
    "timestampSpec": 'give {"column": "timestamp", "format": "auto"}',
    "name": "name the column",
    "type": "name its type",
}
_Model = TypeVar("_Model", bound=BaseModel)


class SpecProblems:
    """Collects what is to be said of one document; no method raises."""

    def __init__(self, document: object) -> None:
        """Begin without a note."""
        self._document = document
        self._moved: tuple[tuple[str, str], ...] = ()
        self.errors: list[FieldError] = []
        self.warnings: list[str] = []

    @property
    def full(self) -> bool:
        """Nothing more is noted."""
        return len(self.errors) > NOTES_MAX

    def look_at(self, document: object, moved: Mapping[str, str]) -> None:
        """Read another form of the document; `moved` are its places, and where they stood."""
        self._document = document
        self._moved = tuple(sorted(moved.items(), reverse=True))  # what is within one comes first

    def refuse(self, pointer: str, message: str, hint: str = "") -> None:
        """Note that what stands at `pointer` is wrong."""
        if len(self.errors) < NOTES_MAX:
            self.errors.append(FieldError(self._as_written(pointer), message, hint))
        elif not self.full:
            self.errors.append(FieldError("", f"more than {NOTES_MAX} errors", "mend these first"))

    def warn(self, message: str) -> None:
        """Note that something is accepted and has no effect; its pointer comes first."""
        if len(self.warnings) < NOTES_MAX:
            self.warnings.append(self._as_written(message))

    def _as_written(self, text: str) -> str:
        """Begin with the place that was moved, if the text begins with where it was moved to."""
        for place, stood in self._moved:
            rest = text.removeprefix(place)
            if text.startswith(place) and rest[:1] in {"", "/", " ", ":"}:
                return stood + rest
        return text

    def sift(self, section: Mapping[str, object], pointer: str, table: Table) -> dict[str, object]:
        """Return the fields that mean something here, nulls left out; note all others."""
        kept: dict[str, object] = {}
        for name, value in section.items():
            place = f"{pointer}/{pointer_part(name)}"
            if name in table.kept or name in table.aliases:
                if value is not None:
                    kept[name] = value
            elif name in table.fixed:
                self._expect(value, place, table.fixed[name])
            elif name in table.unbuilt:
                self._refuse_unbuilt(value, place, table.unbuilt[name])
            elif name in table.switched:
                self._refuse_switched(value, place, *table.switched[name])
            elif name in table.older:
                continue
            elif name not in table.idle:
                self._refuse_unknown(name, place, table)
            elif not _is_one_of(value, table.idle[name]):
                instead = table.because.get(name, "it is accepted and ignored")
                self.warn(f"{place} has no effect here: {instead}")
        for alias, name in table.aliases.items():
            self._merge(kept, alias, name, pointer)
        return kept

    def sift_each(self, listed: list[object], pointer: str, table: Table) -> list[object]:
        """Return the same of each object in a list; what is no object stays, to be told of."""
        return [
            self.sift(entry, f"{pointer}/{index}", table) if isinstance(entry, Mapping) else entry
            for index, entry in enumerate(listed)
        ]

    def validate(
        self,
        model: type[_Model],
        payload: object,
        pointer: str,
        already_reported: frozenset[str] = frozenset(),
    ) -> _Model | None:
        """Return `payload` as a `model`, or None once its errors are noted.

        Fields in `told` may be missing: it is known already why.
        """
        try:
            return model.model_validate(payload)
        except ValidationError as error:
            found = error.errors(include_input=False, include_url=False)
            for wrong in found:
                missing = wrong["type"] == "missing" and wrong["loc"][-1] in already_reported
                if wrong["type"] == "too_short" and any(_is_within(o, wrong) for o in found):
                    continue  # pydantic counts only the entries that are right
                # The id falls back on a dataSource that is itself wrong: told of there.
                if not missing and wrong["type"] != "default_factory_not_called":
                    self._note(wrong, pointer)
            return None

    def _expect(self, value: object, place: str, expected: str) -> None:
        if value is not None and value != expected:
            self.refuse(place, f"must be {expected}, not {shown(value)}", f'"{expected}"')

    def _refuse_unbuilt(self, value: object, place: str, unbuilt: Unbuilt) -> None:
        if not _is_one_of(value, unbuilt.silent):
            name = place.rpartition("/")[2]
            self.refuse(place, f"{name} {_shown_value(value)}is not built yet", unbuilt.instead)

    def _refuse_switched(self, value: object, place: str, switch: str, instead: str) -> None:
        """Take a section that its own flag switches off for absent."""
        if value is None:
            return
        name = place.rpartition("/")[2]
        if isinstance(value, Mapping) and unquoted(value.get(switch)) in (None, False):
            self.warn(f"{place} is switched off, so it has no effect: it is ignored")
        else:
            self.refuse(place, f"{name} is not built yet", instead)

    def _refuse_unknown(self, name: str, place: str, table: Table) -> None:
        close = None if self.full else nearest(name, table.known)
        hint = (
            f"did you mean {close}?" if close else f"known fields: {', '.join(sorted(table.kept))}"
        )
        self.refuse(place, f"unknown field {shown(name)}", hint)

    def _merge(self, kept: dict[str, object], alias: str, name: str, pointer: str) -> None:
        if alias in kept:
            value = kept.pop(alias)
            if kept.setdefault(name, value) != value:
                self.refuse(
                    f"{pointer}/{alias}",
                    f"{alias} and {name} say different things",
                    f"change {name} and leave {alias} out",
                )

    def _note(self, wrong: ErrorDetails, pointer: str) -> None:
        place, found = pointer, _resolved(self._document, pointer)
        for part in wrong["loc"]:
            if isinstance(found, Mapping) and part not in found and part == found.get("type"):
                continue  # pydantic names the kind of a filter or format on the way to it
            if not isinstance(found, Mapping | list):
                break  # what stands there is a bare value: it has no parts to point at
            place += f"/{pointer_part(str(part))}"
            found = _part(found, str(part))
        context = wrong.get("ctx", {})
        if wrong["type"] == "spec":
            place += str(context.get("within", ""))
            self.refuse(place, str(context["told"]), str(context["hint"]))
        elif wrong["type"] == "missing":
            name = str(wrong["loc"][-1])
            self.refuse(place, f"{name} is required", _HINTS.get(name, ""))
        else:
            told = _describe(wrong["type"], context, wrong["msg"])
            self.refuse(place, told, _meant(context) if "expected_tags" in context else "")


def _is_within(inner: ErrorDetails, outer: ErrorDetails) -> bool:
    place = outer["loc"]
    return len(inner["loc"]) > len(place) and inner["loc"][: len(place)] == place


def _describe(kind: str, context: Mapping[str, object], message: str) -> str:
    """Say in our words what pydantic found."""
    if kind in _TYPES:
        return f"must be {_TYPES[kind]}"
    if kind == "extra_forbidden":
        return "is not known there"
    if kind == "union_tag_not_found":
        return "type is required"
    if kind == "union_tag_invalid":
        return f"{shown(context['tag'])} is no known type"
    if kind == "too_short":
        return f"must have at least {context['min_length']} of them"
    if kind == "too_long":
        return f"must have at most {context['max_length']} of them"
    if kind == "greater_than_equal":
        return f"must be at least {context['ge']}"
    if kind == "less_than_equal":
        return f"must be at most {context['le']}"
    if kind == "literal_error":
        return f"must be {context['expected']}"
    return message


def _meant(context: Mapping[str, object]) -> str:
    """Say which of the types that there are an unknown one may have been meant to be."""
    known = re.findall("'([^']+)'", str(context["expected_tags"]))
    close = nearest(str(context["tag"]), known)
    return f"did you mean {close}?" if close else f"use one of {', '.join(known)}"


def _shown_value(value: object) -> str:
    """Show a short value, so that `rollup true` reads as it was meant."""
    if isinstance(value, bool):
        return f"{value} ".lower()
    return f"{shown(value)} " if isinstance(value, str | int) else ""


def _is_one_of(value: object, silent: tuple[object, ...]) -> bool:
    """Whether a value asks for nothing: null, or one of `silent`; 1 is not true here."""
    if isinstance(value, Mapping):
        value = {k: v for k, v in value.items() if v is not None and v != []}
    meant = (value, unquoted(value))
    return value is None or any(type(v) is type(s) and v == s for v in meant for s in silent)


def _resolved(document: object, pointer: str) -> object:
    """Return what stands at `pointer`, whose parts hold no escapes; None if nothing does."""
    found = document
    for part in pointer.split("/")[1:]:
        found = _part(found, part)
    return found


def _part(parent: object, name: str) -> object:
    if isinstance(parent, Mapping):
        return parent.get(name)
    if isinstance(parent, list) and name.isdecimal() and int(name) < len(parent):
        return parent[int(name)]
    return None
