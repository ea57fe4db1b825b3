"""Rows of `tidegate supervisor history`: the changes of each version of a spec, in words."""

from collections.abc import Iterator, Mapping, Sequence

from supervisor.cli.shell.resource import Resource
from supervisor.cli.supervisor.watch import API
from supervisor.views.supervisors.specs import HistoryRow, VersionLine

_SHOWN_MAX = 6
_SECTIONS = ("dataSchema", "ioConfig", "tuningConfig")


def version_rows(versions: Sequence[HistoryRow]) -> Iterator[tuple[object, ...]]:
    """Yield (number, time, kind of change, changed fields) of versions, newest first."""
    older: list[HistoryRow | None] = [*versions[1:], None][: len(versions)]
    for version, before in zip(versions, older, strict=True):
        named = version.version_number or None, version.version
        if version.spec.get("type") == "noop":
            yield *named, "terminated", ""
        elif before is None or before.spec.get("type") == "noop":
            first = before is not None or version.version_number == 1
            yield *named, "created" if first else "oldest shown", ""
        else:
            changed = sorted(_changed(_whole(before.spec), _whole(version.spec), ""))
            yield *named, _what(changed, version.spec), _listed(changed)


def _what(changed: Sequence[str], spec: Mapping[str, object]) -> str:
    if changed != ["suspended"]:
        return "changed"
    return "suspended" if spec.get("suspended") else "resumed"


def _listed(changed: Sequence[str]) -> str:
    more = len(changed) - _SHOWN_MAX
    return ", ".join(changed[:_SHOWN_MAX]) + (f" and {more} more" if more > 0 else "")


def _whole(spec: Mapping[str, object]) -> dict[str, object]:
    """Return a spec without Druid's second copy of its sections."""
    inner = spec.get("spec")
    sections = dict(inner) if isinstance(inner, Mapping) else {}
    outer = {k: v for k, v in spec.items() if k not in {*_SECTIONS, "spec"} or not sections}
    return outer | sections


def _changed(before: object, after: object, at: str) -> Iterator[str]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in before.keys() | after.keys():
            yield from _changed(before.get(key), after.get(key), f"{at}.{key}" if at else str(key))
    elif before != after:
        yield at


VERSIONS = Resource(
    path=API,
    part="versions",
    rows=list[VersionLine],
    columns=("NUMBER", "STORED", "WHO", "WHAT", "CHANGED", "REASON"),
    wide=("EFFECT", "OPERATION"),
    cells=lambda row, _: (
        row.version_number,
        f"{row.at:%Y-%m-%d %H:%M:%S}",
        row.author,
        row.kind,
        _listed(row.changed or ()),
        row.reason,
        row.effect,
        row.operation_id,
    ),
    problem=lambda row: row.unknown and f"version {row.version_number}: {row.unknown}",
)
