"""Facts of a stored spec that this release cannot read, at the places that no release has moved.

They decide what may follow the spec, and nothing that is read: whoever needs more refuses.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import JsonValue


@dataclass(frozen=True)
class SpecFacts:
    """None: the document has nothing of the kind at its usual place."""

    data_source: str | None = None
    topic: str | None = None
    topic_pattern: str | None = None
    bounds: JsonValue = None
    """Its `boundedStreamConfig` as it is stored."""
    rolls_up: bool | None = None


def facts_of(document: object) -> SpecFacts:
    """Return what a stored document says where specs of every release say it."""
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
