"""Verbs on flows: applied, listed, rolled back, deleted; each version stays."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from pydantic import JsonValue

from supervisor.control.leadership import Leadership
from supervisor.control.publishing.publish_outbox import announce_watch
from supervisor.core.executions.expressions import Expressions
from supervisor.core.flows.document import FlowDocument
from supervisor.core.flows.reading import read_flow, read_stored
from supervisor.core.flows.stored import StoredFlow, digest_of
from supervisor.core.flows.stored_triggers import TriggerChanges, follow_flow
from supervisor.core.flows.triggers import TriggerFields
from supervisor.core.model.rows import AuditEntry
from supervisor.core.planning.preconditions import (
    WHATEVER,
    Expected,
    TaggedVersion,
    entity_tag,
)
from supervisor.core.values.errors import FlowNotFound, InvalidFlow
from supervisor.core.values.permissions import Actor, reason_of
from supervisor.ports.clock import Clock
from supervisor.ports.flows.executions import ExecutionStore
from supervisor.ports.flows.triggers import TriggerRows
from supervisor.ports.store import Store
from supervisor.services.flows.access import answered
from supervisor.services.flows.calls import OutgoingRules, call_errors, trigger_errors
from tasks.contract.kafka_client import SecretRef

__all__ = ["FlowAllowed", "Flows", "flow_tag"]

FlowAllowed = Callable[[FlowDocument], None]
"""Raises NotAllowed for a step whose verb the author may not call."""


def flow_tag(flow: StoredFlow) -> str:
    """Return the entity tag of a version of a flow, with its quotes."""
    return entity_tag(flow.name, flow.version, flow.at)


def _any_step(_: FlowDocument) -> None:
    """Allow every step."""


@dataclass(frozen=True)
class Flows:
    """The verbs on flows; one instance per process, safe to call from many threads.

    Each raises `ExecutionStoreUnavailable`; those that change something raise `LeaseLost` too.
    """

    executions: ExecutionStore
    store: Store
    clock: Clock
    leadership: Leadership
    language: Expressions
    read_secret: Callable[[SecretRef], str]
    """Raises `SecretMissing`."""
    outgoing: OutgoingRules | None = None
    """Where `http` steps may go; None: executors make the calls, and know it."""

    def check(self, document: object) -> FlowDocument:
        """Return a flow that can be applied.

        Raises:
            InvalidFlow: it cannot; each error with its place.
        """
        flow = read_flow(document, self.language)
        errors = list(trigger_errors(flow, self.read_secret))
        if self.outgoing is not None:
            errors += call_errors(flow, self.outgoing, self.read_secret)
        if errors:
            raise InvalidFlow(errors)
        return flow

    def apply(
        self,
        document: Mapping[str, object],
        author: Actor,
        allowed: FlowAllowed = _any_step,
        expected: Expected = WHATEVER,
    ) -> tuple[StoredFlow, bool]:
        """Store a version; an equal document of the same author makes none.

        Return the newest, and if it is new.

        Raises:
            PreconditionFailed: the newest version is not as `expected`.
            InvalidFlow: it cannot be applied.
            NotAllowed: the author may not call the verb of a step.
            QueueDead: publishes cannot be watched.
        """
        flow = self.check(document)
        allowed(flow)
        given = cast("Mapping[str, JsonValue]", document)
        applied = _Applied(given, flow.triggers, expected)
        return self._add(flow.flow, applied, author, "apply-flow")

    def roll_back(
        self,
        name: str,
        version: int,
        author: Actor,
        allowed: FlowAllowed = _any_step,
        *,
        expected: Expected = WHATEVER,
    ) -> tuple[StoredFlow, bool]:
        """Store an earlier version's document as the newest one; its author owns it now.

        Raises:
            PreconditionFailed: the newest version is not as `expected`.
            FlowNotFound: there is no such version, or it deletes the flow.
            InvalidFlow: this release does not take it any more.
            NotAllowed: the author may not call the verb of a step.
        """
        old = self.version(name, version)
        if old.document is None:
            raise FlowNotFound(name, version)
        flow = self.check(old.document)
        allowed(flow)
        applied = _Applied(old.document, flow.triggers, expected)
        return self._add(name, applied, author, "roll-back-flow")

    def delete(self, name: str, author: Actor, expected: Expected = WHATEVER) -> StoredFlow:
        """End a flow: nothing starts it any more; what runs goes on.

        Raises:
            FlowNotFound: there is none.
            PreconditionFailed: the newest version is not as `expected`.
        """
        applied = _Applied(None, expected=expected)
        return self._add(name, applied, author, "delete-flow")[0]

    def get(self, name: str) -> StoredFlow:
        """Return the newest version.

        Raises:
            FlowNotFound: there is no such flow, or it was deleted.
        """
        with answered(), self.executions.reading() as rows:
            flow = rows.flows.newest(name)
        if flow is None or flow.deleted:
            raise FlowNotFound(name)
        return flow

    def read(self, name: str) -> FlowDocument:
        """Return the newest version as its executions begin with it: it is not checked again.

        Raises:
            FlowNotFound: there is no such flow, or it was deleted.
            InvalidFlow: this release does not know its fields.
        """
        return read_stored(self.get(name).document)

    def version(self, name: str, version: int) -> StoredFlow:
        """Return one version, a tombstone too.

        Raises:
            FlowNotFound: there is none.
        """
        with answered(), self.executions.reading() as rows:
            flow = rows.flows.version(name, version)
        if flow is None:
            raise FlowNotFound(name, version)
        return flow

    def two_versions(
        self, name: str, old: int | None, new: int | None
    ) -> tuple[StoredFlow, StoredFlow]:
        """Return two versions; None: the newest, and the one before the other.

        Raises:
            FlowNotFound: there is no such flow, or not both.
        """
        if new is None:
            [after] = self.versions(name, 1, None)
        else:
            after = self.version(name, new)
        return self.version(name, after.version - 1 if old is None else old), after

    def versions(self, name: str, limit: int, before: int | None) -> Sequence[StoredFlow]:
        """Return versions below `before`, newest first; of a deleted flow, too.

        Raises:
            FlowNotFound: there never was such a flow.
        """
        with answered(), self.executions.reading() as rows:
            if rows.flows.newest(name) is None:
                raise FlowNotFound(name)
            return rows.flows.versions(name, limit, before)

    def page(self, limit: int, after: str) -> Sequence[StoredFlow]:
        """Return the newest version of each flow, by name behind `after`."""
        with answered(), self.executions.reading() as rows:
            return rows.flows.page(limit, after)

    def _add(
        self, name: str, applied: "_Applied", author: Actor, action: str
    ) -> tuple[StoredFlow, bool]:
        document = applied.document
        term, now, digest = self.leadership.term(), self.clock.now(), digest_of(document)
        with answered(), self.executions.working(term) as rows:
            newest = rows.flows.newest(name)
            # Looked at where it is written: of two who delete a flow at once one finds none.
            if document is None and (newest is None or newest.deleted):
                raise FlowNotFound(name)
            applied.expected.check_tagged(name, _tagged(newest), "flow")
            if newest is not None and (newest.digest, newest.author) == (digest, str(author)):
                return newest, False
            number = 1 if newest is None else newest.version + 1
            why = reason_of(author)
            flow = StoredFlow(name, number, document, digest, str(author), why, now)
            before = rows.triggers.of_flow(name)
            changes = follow_flow(name, number, applied.triggers, before, now)
            # Before the version is there: what was done must never be without its audit.
            with self.store.leading(term) as tx:
                tx.audit.write(AuditEntry(now, author, action, name, {"version": str(number)}))
                for trigger in changes.watching:
                    announce_watch(tx, name, trigger, number, now)
            rows.flows.add(flow)
            _store_triggers(rows.triggers, name, changes)
        return flow, True


@dataclass(frozen=True)
class _Applied:
    """What becomes the newest version."""

    document: Mapping[str, JsonValue] | None
    triggers: Sequence[TriggerFields] = ()
    expected: Expected = WHATEVER


def _tagged(newest: StoredFlow | None) -> TaggedVersion | None:
    if newest is None or newest.deleted:
        return None
    return TaggedVersion("flow", newest.version, flow_tag(newest))


def _store_triggers(rows: TriggerRows, flow: str, changes: TriggerChanges) -> None:
    for name in changes.removed:
        rows.remove(flow, name)
    for name in changes.reset:
        rows.drop_waiting(flow, name)
    for trigger in changes.put:
        rows.put(trigger)
