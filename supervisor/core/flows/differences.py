"""What differs between two documents of a flow; steps, inputs and triggers are known by name."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

__all__ = ["FlowDifference", "differences"]


@dataclass(frozen=True)
class FlowDifference:
    """One place at which two documents differ.  None: the place is not there."""

    place: str
    """Such as `steps/pack/retry/attempts`."""
    old: JsonValue
    new: JsonValue


def differences(
    old: Mapping[str, JsonValue] | None, new: Mapping[str, JsonValue] | None
) -> list[FlowDifference]:
    """Return every place that differs, in the order of the new document; None: there is none."""
    return list(_of(dict(old or {}), dict(new or {}), ""))


def _of(old: JsonValue, new: JsonValue, place: str) -> Iterator[FlowDifference]:
    before, after = _members(old), _members(new)
    if before is None or after is None:
        if old != new:
            yield FlowDifference(place, old, new)
        return
    names = [*after, *(name for name in before if name not in after)]
    for name in names:
        inner = f"{place}/{name}" if place else name
        if name in before and name in after:
            yield from _of(before[name], after[name], inner)
        else:
            yield FlowDifference(inner, before.get(name), after.get(name))
    common = [name for name in before if name in after]
    if isinstance(new, list) and common != [name for name in after if name in before]:
        yield FlowDifference(f"{place} (order)", list(before), list(after))


def _members(value: JsonValue) -> Mapping[str, JsonValue] | None:
    """Return what a value has by name; None: it is to be compared as a whole."""
    if isinstance(value, dict):
        return value
    if isinstance(value, list) and value:
        return _by_name(value)
    return None


def _by_name(items: Sequence[JsonValue]) -> Mapping[str, JsonValue] | None:
    named = {str(item["name"]): item for item in items if isinstance(item, dict) and "name" in item}
    return named if len(named) == len(items) else None
