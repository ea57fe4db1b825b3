"""Triggers as they are kept: what each has done, what it waits for, and why it did not fire."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from pydantic import JsonValue

from supervisor.core.flows.slots import first_slot
from supervisor.core.flows.triggers import (
    PublishedTrigger,
    ScheduleTrigger,
    TriggerFields,
    WebhookTrigger,
)

__all__ = [
    "COALESCED_MAX",
    "Firing",
    "PublishSeen",
    "StoredTrigger",
    "TriggerChanges",
    "about_publishes",
    "about_slot",
    "follow_flow",
    "kind_of",
    "slot_name",
    "slot_of_text",
]

COALESCED_MAX = 200
"""Publishes that one execution names; further ones have the next."""
_PLAIN = re.compile(r"[A-Za-z0-9._-]{1,64}")
_HASHED = "~"
"""Begins a slot that is a hash: no plain one has this sign."""


@dataclass(frozen=True)
class StoredTrigger:
    """One trigger of a flow that is not deleted."""

    flow: str
    name: str
    definition: TriggerFields
    version: int
    """The version of the flow that has defined it so."""
    paused: bool = False
    paused_by: str | None = None
    watches: bool = False
    """Of `published`: whether the publishes of before its definition are all passed."""
    position: datetime | None = None
    """Of `schedule`: up to here all slots are done with."""
    next_at: datetime | None = None
    """Of `schedule`: its first slot behind the position."""
    waiting: int = 0
    """Publishes that wait for an execution to end."""
    numbered: int = 0
    """The number of its newest firing."""
    fired: int = 0
    """Executions that it has started."""
    passed: int = 0
    """Slots, publishes and requests for which it has started none."""
    last_at: datetime | None = None
    last_execution: str | None = None
    problem: str = ""
    """Why it did not fire the last time that it should have; empty: it did."""
    problem_at: datetime | None = None

    def held_up(self, why: str, now: datetime, passed: int = 1) -> "StoredTrigger":
        """Return it after it did not fire."""
        return replace(self, passed=self.passed + passed, problem=why, problem_at=now)

    def with_pause(self, by: str | None, now: datetime) -> "StoredTrigger":
        """Return it paused by somebody, or resumed: the slots of the pause are passed by."""
        if by is not None:
            return replace(self, paused=True, paused_by=by, next_at=None)
        resumed = replace(self, paused=False, paused_by=None)
        if not isinstance(self.definition, ScheduleTrigger):
            return resumed
        position = now if self.position is None else max(self.position, now)
        return resumed.at_slot(position)

    def at_slot(self, position: datetime) -> "StoredTrigger":
        """Return it with all slots up to a moment done with."""
        assert isinstance(self.definition, ScheduleTrigger)
        following = None if self.paused else first_slot(self.definition.schedule, position)
        return replace(self, position=position, next_at=following)


@dataclass(frozen=True)
class Firing:
    """A slot, a publish or a request that a trigger has taken: each once."""

    slot: str
    number: int
    """Counts the trigger's firings, from 1 on."""
    at: datetime
    execution: str | None
    """None: it waits for the execution before it to end."""
    about: Mapping[str, JsonValue] = field(default_factory=dict)
    """Of a publish what it was; of a request the digest of its body."""


@dataclass(frozen=True)
class PublishSeen:
    """A publish, as its event tells of it."""

    id: str
    table: str
    supervisor: str
    rows: int
    at: str
    """When, in ISO 8601."""

    @property
    def about(self) -> dict[str, JsonValue]:
        """What expressions read of it."""
        return {
            "id": self.id,
            "table": self.table,
            "supervisor": self.supervisor,
            "rows": self.rows,
            "at": self.at,
        }


@dataclass(frozen=True)
class TriggerChanges:
    """What a version of a flow changes of its triggers."""

    put: tuple[StoredTrigger, ...] = ()
    removed: tuple[str, ...] = ()
    reset: tuple[str, ...] = ()
    """Those with another definition: what waits for the old one is dropped."""

    @property
    def watching(self) -> tuple[str, ...]:
        """Names of those that begin to watch publishes."""
        return tuple(t.name for t in self.put if isinstance(t.definition, PublishedTrigger))


def follow_flow(
    flow: str,
    version: int,
    wanted: Sequence[TriggerFields],
    before: Sequence[StoredTrigger],
    now: datetime,
) -> TriggerChanges:
    """Return what follows from a new version; a trigger that is defined as before goes on."""
    known = {each.name: each for each in before}
    put: list[StoredTrigger] = []
    for one in wanted:
        old = known.get(one.name)
        # How it begins is no part of what it is: people have paused and resumed it since.
        if old is not None and _as_begun(old.definition) == _as_begun(one):
            continue
        began = StoredTrigger(flow, one.name, one, version, paused=one.paused)
        if old is not None:
            began = replace(
                began,
                paused=old.paused,
                paused_by=old.paused_by,
                numbered=old.numbered,
                fired=old.fired,
                passed=old.passed,
                last_at=old.last_at,
                last_execution=old.last_execution,
            )
        put.append(began.at_slot(now) if isinstance(one, ScheduleTrigger) else began)
    names = {one.name for one in wanted}
    removed = tuple(name for name in known if name not in names)
    return TriggerChanges(tuple(put), removed, tuple(t.name for t in put if t.name in known))


def _as_begun(definition: TriggerFields) -> TriggerFields:
    return definition.model_copy(update={"paused": False})


def kind_of(definition: TriggerFields) -> str:
    """Return the type of a trigger, as it is written."""
    match definition:
        case ScheduleTrigger() | PublishedTrigger() | WebhookTrigger():
            return definition.type
        case _:
            raise AssertionError(f"{type(definition).__name__} is no trigger")


def slot_name(slot: datetime) -> str:
    """Return how a slot is named in the ids of executions: `20261125T031500Z`."""
    return f"{slot.astimezone(UTC):%Y%m%dT%H%M%SZ}"


def slot_of_text(text: str) -> str:
    """Return how a publish or a key is named in ids: as it is, or a hash of what does not fit."""
    if _PLAIN.fullmatch(text):
        return text
    return _HASHED + hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def about_slot(trigger: StoredTrigger, slot: datetime, passed: int) -> dict[str, JsonValue]:
    """Return what expressions read of a slot; `passed`: missed slots that it stands for."""
    assert isinstance(trigger.definition, ScheduleTrigger)
    local = slot.astimezone(ZoneInfo(trigger.definition.timezone))
    return {
        "type": "schedule",
        "name": trigger.name,
        "slot": f"{slot.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "local": local.isoformat(),
        "day": f"{local:%Y-%m-%d}",
        "passed": passed,
    }


def about_publishes(
    trigger: StoredTrigger, publishes: Sequence[Mapping[str, JsonValue]]
) -> dict[str, JsonValue]:
    """Return what expressions read of publishes; of one they read `publish` as well."""
    rows = sum(rows for each in publishes if isinstance(rows := each.get("rows"), int))
    about: dict[str, JsonValue] = {
        "type": "published",
        "name": trigger.name,
        "publishes": [dict(each) for each in publishes],
        "rows": rows,
    }
    return {**about, "publish": dict(publishes[0])} if len(publishes) == 1 else about
