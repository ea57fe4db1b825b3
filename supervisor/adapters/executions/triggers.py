"""Triggers in SQL: a row for each, and a row for each thing that it has taken."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, Row, Select, delete, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from supervisor.adapters.executions.schema import FIRINGS, TRIGGERS
from supervisor.core.flows.stored_triggers import Firing, StoredTrigger, kind_of
from supervisor.core.flows.triggers import WebhookTrigger, read_trigger, written_trigger
from supervisor.ports.flows.triggers import FIRINGS_KEPT, REQUESTS_KEPT

__all__ = ["SqlTriggers"]

_T, _F = TRIGGERS.c, FIRINGS.c
_PLAIN = (
    *("flow", "name", "version", "paused", "paused_by", "watches", "position", "next_at"),
    *("waiting", "numbered", "fired", "passed"),
    *("last_at", "last_execution", "problem", "problem_at"),
)
"""Columns that hold a field of the same name as it is."""


@dataclass(frozen=True)
class SqlTriggers:
    """Implements `ports.flows.triggers.TriggerRows` in one transaction."""

    connection: Connection

    def of_flow(self, flow: str) -> Sequence[StoredTrigger]:
        """Return the triggers of a flow."""
        return self._read(select(TRIGGERS).where(_T.flow == flow).order_by(_T.name))

    def find(self, flow: str, name: str) -> StoredTrigger | None:
        """Return one trigger."""
        some = self._read(select(TRIGGERS).where(_T.flow == flow, _T.name == name))
        return some[0] if some else None

    def published(self) -> Sequence[StoredTrigger]:
        """Return the triggers that watch publishes."""
        query = select(TRIGGERS).where(_T.kind == "published").order_by(_T.flow, _T.name)
        return self._read(query)

    def due(self, now: datetime, limit: int) -> Sequence[StoredTrigger]:
        """Return triggers with a slot up to now."""
        query = select(TRIGGERS).where(_T.next_at <= now).order_by(_T.next_at).limit(limit)
        return self._read(query)

    def waiting(self) -> Sequence[StoredTrigger]:
        """Return triggers with publishes that wait."""
        return self._read(select(TRIGGERS).where(_T.waiting > 0, ~_T.paused))

    def firing(self, flow: str, name: str, slot: str) -> Firing | None:
        """Return one firing."""
        row = self.connection.execute(_firings(flow, name).where(_F.slot == slot)).one_or_none()
        return None if row is None else _firing(row)

    def firings(self, flow: str, name: str, limit: int) -> Sequence[Firing]:
        """Return firings, newest first."""
        query = _firings(flow, name).order_by(_F.number.desc()).limit(limit)
        return [_firing(row) for row in self.connection.execute(query)]

    def waiting_firings(self, flow: str, name: str, limit: int) -> Sequence[Firing]:
        """Return publishes that wait, oldest first."""
        query = _firings(flow, name).where(_F.execution.is_(None))
        rows = self.connection.execute(query.order_by(_F.number).limit(limit))
        return [_firing(row) for row in rows]

    def put(self, trigger: StoredTrigger) -> None:
        """Store a trigger."""
        row = {name: getattr(trigger, name) for name in _PLAIN}
        row["kind"] = kind_of(trigger.definition)
        row["definition"] = written_trigger(trigger.definition)
        on_sqlite = self.connection.dialect.name == "sqlite"
        given = sqlite.insert(TRIGGERS) if on_sqlite else postgresql.insert(TRIGGERS)
        changed = {name: value for name, value in row.items() if name not in {"flow", "name"}}
        upsert = given.on_conflict_do_update(index_elements=[_T.flow, _T.name], set_=changed)
        self.connection.execute(upsert, row)

    def remove(self, flow: str, name: str) -> None:
        """Remove a trigger and its firings."""
        self.connection.execute(delete(FIRINGS).where(_F.flow == flow, _F.trigger == name))
        self.connection.execute(delete(TRIGGERS).where(_T.flow == flow, _T.name == name))

    def take(self, trigger: StoredTrigger, firing: Firing) -> None:
        """Store a firing; old ones go."""
        row = {
            "flow": trigger.flow,
            "trigger": trigger.name,
            "slot": firing.slot,
            "number": firing.number,
            "at": firing.at,
            "execution": firing.execution,
            "about": json.dumps(dict(firing.about)),
        }
        self.connection.execute(insert(FIRINGS), row)
        is_request = isinstance(trigger.definition, WebhookTrigger)
        kept = REQUESTS_KEPT if is_request else FIRINGS_KEPT
        old = delete(FIRINGS).where(
            _F.flow == trigger.flow,
            _F.trigger == trigger.name,
            _F.number <= firing.number - kept,
            _F.execution.is_not(None),
        )
        self.connection.execute(old)

    def name_execution(self, trigger: StoredTrigger, slots: Sequence[str], execution: str) -> None:
        """Say which execution names firings."""
        of_them = update(FIRINGS).where(
            _F.flow == trigger.flow, _F.trigger == trigger.name, _F.slot.in_(slots)
        )
        self.connection.execute(of_them.values(execution=execution))

    def drop_waiting(self, flow: str, name: str) -> None:
        """Remove the firings that wait."""
        gone = delete(FIRINGS).where(_F.flow == flow, _F.trigger == name, _F.execution.is_(None))
        self.connection.execute(gone)

    def _read(self, query: Select[tuple[object, ...]]) -> list[StoredTrigger]:
        return [_trigger(row) for row in self.connection.execute(query)]


def _firings(flow: str, name: str) -> Select[tuple[object, ...]]:
    return select(FIRINGS).where(_F.flow == flow, _F.trigger == name)


def _trigger(row: Row[tuple[object, ...]]) -> StoredTrigger:
    fields = {name: getattr(row, name) for name in _PLAIN}
    return StoredTrigger(**fields, definition=read_trigger(row.definition))


def _firing(row: Row[tuple[object, ...]]) -> Firing:
    return Firing(row.slot, row.number, row.at, row.execution, json.loads(row.about))
