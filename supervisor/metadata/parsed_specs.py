"""The cache of parsed specs: one process parses a stored text once, not at each read of its row.

A text is looked up by its digest, not by the id and version of its row.  So a version number that
is given again after `forget`, a restored database and a row that was changed by hand are all read
as they are stored now.
"""

import hashlib
import json
import threading
from collections import OrderedDict
from dataclasses import dataclass, field

from pydantic import ValidationError

from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.errors import FieldError
from supervisor.core.values.spec_facts import SpecFacts, facts_of

CHARACTERS_MAX = 16_000_000
"""Characters of all texts whose specs are kept; those that were not used for longest go first.

A parsed spec takes up to ten bytes of memory for each character.
"""


@dataclass(frozen=True)
class Unparsed:
    """The reasons why this release cannot read a text, and the facts that it can."""

    errors: tuple[FieldError, ...]
    facts: SpecFacts


@dataclass
class _ParsedText:
    characters: int
    parsed: SupervisorSpec | Unparsed | None = None
    turned: SupervisorSpec | None = None
    """The spec with the other value of `suspended`, for versions that differ by that alone."""
    turn: threading.Lock = field(default_factory=threading.Lock)
    """Held while the text is parsed: others that need the same spec wait for it."""


class ParsedSpecs:
    """Parses texts of stored specs; one instance per store, safe from many threads."""

    def __init__(self, characters_max: int = CHARACTERS_MAX) -> None:
        self._characters_max = characters_max
        self._lock = threading.Lock()
        self._entries: OrderedDict[bytes, _ParsedText] = OrderedDict()
        self._characters = 0

    def parse(self, text: str, suspended: bool | None = None) -> SupervisorSpec | Unparsed:
        """Return the spec of a stored text, which no caller may change.

        `suspended` is in place of the text's own; None: as the text says.
        """
        entry = self._entry(hashlib.sha256(text.encode()).digest(), len(text))
        with entry.turn:
            if entry.parsed is None:
                entry.parsed = _parse(text)
            if isinstance(entry.parsed, Unparsed) or suspended in {None, entry.parsed.suspended}:
                return entry.parsed
            if entry.turned is None:  # its sections are those of the other one
                entry.turned = entry.parsed.model_copy(update={"suspended": suspended})
            return entry.turned

    def _entry(self, key: bytes, characters: int) -> _ParsedText:
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                entry = self._entries[key] = _ParsedText(characters)
                self._characters += characters
            self._entries.move_to_end(key)
            while self._characters > self._characters_max:
                _, oldest = self._entries.popitem(last=False)
                self._characters -= oldest.characters
            return entry


def _parse(text: str) -> SupervisorSpec | Unparsed:
    document = json.loads(text)
    try:
        return SupervisorSpec.model_validate(document)
    except ValidationError as error:
        errors = (
            FieldError("".join(f"/{part}" for part in one["loc"]), one["msg"])
            for one in error.errors(include_url=False, include_input=False)
        )
        return Unparsed(tuple(errors), facts_of(document))
