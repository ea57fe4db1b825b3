"""Facts of a stored spec that this release cannot read, from fields that no release has moved.

These facts only decide which spec may follow.  They never decide what is read: code that needs more
of the spec refuses.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import JsonValue


@dataclass(frozen=True)
class SpecFacts:
    """The facts; None: the document has no such value at the usual place."""

    data_source: str | None = None
    topic: str | None = None
    topic_pattern: str | None = None
    bounds: JsonValue = None
    """The `boundedStreamConfig` of the spec, as stored."""
    rolls_up: bool | None = None


def facts_of(document: object) -> SpecFacts:
    """Return the facts at the places where specs of every release have them."""
    schema, io_config = _part(document, "dataSchema"), _part(document, "ioConfig")
    rollup = _part(schema, "granularitySpec").get("rollup")
    return SpecFacts(
        data_source=_text(schema.get("dataSource")),
        topic=_text(io_config.get("topic")),
        topic_pattern=_text(io_config.get("topicPattern")),
        bounds=io_config.get("boundedStreamConfig"),
        rolls_up=rollup if isinstance(rollup, bool) else None,
    )


def _part(document: object, name: str) -> Mapping[str, JsonValue]:
    found = document.get(name) if isinstance(document, dict) else None
    return found if isinstance(found, dict) else {}


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) else None
