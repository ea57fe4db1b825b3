"""Collection of the errors and warnings of a document, each with its JSON pointer."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from supervisor.core.values.errors import FieldError
from supervisor.core.values.field_types import nearest, pointer_part, shown

NOTES_MAX = 100
"""The maximum of errors, and of warnings, per document; more would help nobody."""
_MESSAGES = {
    **dict.fromkeys(("int_type", "int_from_float", "int_parsing"), "must be a whole number"),
    "bool_type": "must be true or false",
    "string_type": "must be a text",
    "tuple_type": "must be a list",
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), "must be an object"),
    "extra_forbidden": "is not known there",
    "too_short": "must have at least {min_length} of them",
    "too_long": "must have at most {max_length} of them",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
}
"""Type of pydantic's error -> Tidegate's message."""
_HINTS = {
    "consumerProperties": 'give {"bootstrap.servers": "host:port"}',
    "inputFormat": 'give {"type": "json"}',
    "dataSource": "name the table",
    "timestampSpec": 'give {"column": "timestamp", "format": "auto"}',
    "name": "name the column",
    "type": "name its type",
}
_NO_PLACES: Mapping[str, str] = MappingProxyType({})
_Model = TypeVar("_Model", bound=BaseModel)


class SpecProblems:
    """The errors and warnings of one document; no method raises."""

    def __init__(
        self,
        document: object,
        homes: Mapping[str, str] = _NO_PLACES,
        hints: Mapping[str, str] = MappingProxyType(_HINTS),
    ) -> None:
        """`homes`: name of a field -> the section that reads it.

        `hints`: name of a field that is missing -> what to do.
        """
        self._hints = hints
        self._document = document
        self._homes = homes
        self._moved: tuple[tuple[str, str], ...] = ()
        self.errors: list[FieldError] = []
        self.dropped: set[str] = set()
        """Pointers to values that are not read further, because their error is noted already."""
        self.warnings: list[str] = []

    @property
    def full(self) -> bool:
        """Whether `NOTES_MAX` errors are noted, so that no more are."""
        return len(self.errors) > NOTES_MAX

    def look_at(self, document: object, moved: Mapping[str, str]) -> None:
        """Continue with another form of the document; `moved`: new pointer -> original pointer."""
        self._document = document
        self._moved = tuple(sorted(moved.items(), reverse=True))  # inner places first

    def refuse(self, pointer: str, message: str, hint: str = "") -> None:
        """Note an error at `pointer`; `hint` says what to do."""
        if len(self.errors) < NOTES_MAX:
            self.errors.append(FieldError(self._as_written(pointer), message, hint))
        elif not self.full:
            self.errors.append(FieldError("", f"more than {NOTES_MAX} errors", "mend these first"))

    def home_hint(self, name: str) -> str:
        """Return the hint for a field that another section reads, or ''."""
        home = self._homes.get(name)
        return "" if home is None else f"it belongs in {home}"

    def warn(self, message: str) -> None:
        """Note a warning: a text that begins with the pointer of a field without effect."""
        if len(self.warnings) < NOTES_MAX:
            self.warnings.append(self._as_written(message))

    def drop(self, pointer: str) -> None:
        """Leave the value at `pointer` unread, because its error is noted already."""
        self.dropped.add(pointer)

    def _as_written(self, text: str) -> str:
        """Return a text with the moved pointer at its start replaced by the original pointer."""
        for place, stood in self._moved:
            rest = text.removeprefix(place)
            if text.startswith(place) and rest[:1] in {"", "/", " ", ":"}:
                return stood + rest
        return text

    def validate(
        self,
        model: type[_Model],
        payload: object,
        pointer: str = "",
        places: Mapping[str, str] = _NO_PLACES,
    ) -> _Model | None:
        """Return `payload` as a `model`; None: its errors are noted.

        `pointer` leads to the payload; `places`: name of a field -> pointer, if it lies elsewhere.
        """
        try:
            return model.model_validate(payload)
        except ValidationError as error:
            details = error.errors(include_input=False, include_url=False)
            outer = {o["loc"][:size] for o in details for size in range(len(o["loc"]))}
            for wrong in details:
                if self.full:
                    break
                if wrong["type"] == "too_short" and wrong["loc"] in outer:
                    continue  # pydantic counts only the entries that are valid
                # The id defaults to the dataSource; the error of that field is noted there.
                if wrong["type"] != "default_factory_not_called":
                    first, *within = wrong["loc"] or ("",)
                    at = places.get(str(first))
                    way = wrong["loc"] if at is None else tuple(within)
                    self._note(wrong, pointer if at is None else at, way)
            return None

    def _note(self, wrong: ErrorDetails, pointer: str, way: tuple[int | str, ...]) -> None:
        place, node = pointer, _resolved(self._document, pointer)
        for part in way:
            if isinstance(node, Mapping) and part not in node and part == node.get("type"):
                continue  # pydantic's path also has the type of a filter or format
            if not isinstance(node, Mapping | list):
                break  # a bare value has no parts to point at
            place += f"/{pointer_part(str(part))}"
            node = _part(node, str(part))
        context = wrong.get("ctx", {})
        if wrong["type"] == "spec":
            place += str(context.get("within", ""))
            self.refuse(place, str(context["message"]), str(context["hint"]))
        elif wrong["type"] == "missing":
            name = str(wrong["loc"][-1])
            if place not in self.dropped:
                self.refuse(place, f"{name} is required", self._hints.get(name, ""))
        elif wrong["type"] == "union_tag_invalid":
            self.refuse(place, f"{shown(context['tag'])} is no known type", _meant(context))
        elif wrong["type"] == "union_tag_not_found":
            self.refuse(place, "type is required", self._hints.get("type", ""))
        elif wrong["type"] in {"enum", "literal_error"}:
            words = str(context["expected"])
            self.refuse(place, f"must be {words}", _nearest_word(node, words))
        else:
            message = _MESSAGES.get(wrong["type"])
            self.refuse(place, wrong["msg"] if message is None else message.format(**context))


def _meant(context: Mapping[str, object]) -> str:
    """Return a hint for an unknown type: the closest known type, or all known types."""
    known = re.findall("'([^']+)'", str(context["expected_tags"]))
    close = nearest(str(context["tag"]), known)
    return f"did you mean {close}?" if close else f"use one of {', '.join(known)}"


def _nearest_word(value: object, expected: str) -> str:
    """Return a hint for a wrong word: the closest of the words that are expected."""
    close = nearest(value, re.findall("'([^']+)'", expected)) if isinstance(value, str) else None
    return f"did you mean {close}?" if close else ""


def _resolved(document: object, pointer: str) -> object:
    """Return the value at `pointer`, which has no escapes; None: there is no value."""
    node = document
    for part in pointer.split("/")[1:]:
        node = _part(node, part)
    return node


def _part(parent: object, name: str) -> object:
    if isinstance(parent, Mapping):
        return parent.get(name)
    if isinstance(parent, list) and name.isdecimal() and int(name) < len(parent):
        return parent[int(name)]
    return None
