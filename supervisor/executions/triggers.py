"""Triggers at work: slots, publishes and requests become executions, each of them once.

    slot, publish, request ─► a firing, its execution, the trigger's counts ─► one commit

A firing is a row with a name of its own.  What comes again finds its row, and starts nothing: after
a crash, by another leader, or with a clock that was set back.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from pydantic import JsonValue

from supervisor.core.executions.entities import Execution
from supervisor.core.executions.expressions import ExpressionFailed, Expressions, resolve
from supervisor.core.executions.plan import FlowPlan
from supervisor.core.flows.compiling import compile_flow
from supervisor.core.flows.document import FlowDocument, bind_inputs
from supervisor.core.flows.reading import read_stored
from supervisor.core.flows.slots import BadSchedule, due_slots
from supervisor.core.flows.stored_triggers import (
    COALESCED_MAX,
    Firing,
    PublishSeen,
    StoredTrigger,
    about_publishes,
    about_slot,
    slot_name,
    slot_of_text,
)
from supervisor.core.flows.triggers import PublishedTrigger, ScheduleTrigger
from supervisor.core.values.errors import InvalidFlow, InvalidInputs
from supervisor.executions.flow_engine import FlowBatch, FlowEngine
from supervisor.ports.flows.executions import ExecutionRows, ExecutionStore
from supervisor.ports.store_problems import ContentRefused

__all__ = ["CannotFire", "FiredRequest", "TriggerEngine", "WatchBegins"]

_DUE_AT_ONCE = 50
_PAUSED = "it is paused"
_WHY_MAX = 500


class CannotFire(Exception):
    """A trigger cannot start an execution; the message says why."""

    def __init__(self, message: str, kept: str | None = None) -> None:
        """`kept`: why, without a word of what a request has sent; None: the message is that."""
        super().__init__(message)
        self.kept = message if kept is None else kept


@dataclass(frozen=True)
class WatchBegins:
    """From here on, in the order of events, a trigger watches publishes."""

    flow: str
    trigger: str
    version: int


@dataclass(frozen=True)
class FiredRequest:
    """What came of a request to fire."""

    execution: str
    is_new: bool
    digest: JsonValue
    """What was kept of the request that came first."""


@dataclass(frozen=True)
class TriggerEngine:
    """Fires; safe to use from many threads, each call is one transaction of the leader's term."""

    store: ExecutionStore
    engine: FlowEngine
    term: Callable[[], int]
    language: Expressions
    now: Callable[[], datetime]

    def run_due(self) -> bool:
        """Fire what is due, and what has waited; return whether more is due already.

        Raises:
            As `FlowEngine.work`.
        """
        now = self.now()
        with self.store.reading() as seen:
            waits = [each for each in seen.triggers.waiting() if not _runs(seen.execution, each)]
            if not waits and not seen.triggers.due(now, 1):
                return False  # and nothing is written
        with self.store.working(self.term()) as rows:
            firing = self._round(rows)
            due = rows.triggers.due(now, _DUE_AT_ONCE)
            more = len(due) == _DUE_AT_ONCE
            for trigger in due:
                more = firing.fire_slots(trigger, now) or more
            for trigger in rows.triggers.waiting():
                firing.fire_waiting(trigger)
            firing.store()
        self.engine.committed()
        return more

    def take_events(self, events: Sequence[PublishSeen | WatchBegins]) -> None:
        """Fire for publishes, in order; a repeat of them changes nothing.

        Raises:
            As `FlowEngine.work`.
        """
        with self.store.working(self.term()) as rows:
            firing = self._round(rows)
            # A trigger that begins within these events does not watch what is before it, though
            # it is stored as watching when they come again.
            begins = {event for event in events if isinstance(event, WatchBegins)}
            watching = {
                (each.flow, each.name): (
                    replace(each, watches=False) if _begin_of(each) in begins else each
                )
                for each in rows.triggers.published()
            }
            for event in events:
                match event:
                    case WatchBegins():
                        place = (event.flow, event.trigger)
                        trigger = watching.get(place)
                        if trigger is not None and _begin_of(trigger) == event:
                            watching[place] = firing.put(replace(trigger, watches=True))
                    case PublishSeen():
                        for place, trigger in watching.items():
                            watching[place] = firing.take_publish(trigger, event)
            for trigger in watching.values():
                if trigger.waiting:
                    firing.fire_waiting(trigger)
            firing.store()
        self.engine.committed()

    def take_request(
        self,
        trigger: StoredTrigger,
        slot: str,
        about: Mapping[str, JsonValue],
        unkept: Mapping[str, JsonValue],
        digest: JsonValue = None,
    ) -> FiredRequest:
        """Fire for a request, unless one with this slot was taken.

        `unkept` is read by expressions, beside `about`, and not kept with the execution.
        `digest` is that of the request's body; None: it is fired by hand.  Why a request has not
        fired stays with the trigger; who fires by hand sees it.

        Raises:
            InvalidInputs: the flow takes others.
            CannotFire: it does not fire.
            As `FlowEngine.work`.
        """
        with self.store.working(self.term()) as rows:
            before = rows.triggers.firing(trigger.flow, trigger.name, slot)
            if before is not None and before.execution is not None:
                return FiredRequest(before.execution, is_new=False, digest=before.about.get("d"))
            kept = rows.execution(f"{trigger.flow}:{trigger.name}:{slot}")
            if kept is not None:  # it has outlived its firing: a repeat, of what is not known
                return FiredRequest(kept.id, is_new=False, digest=digest)
            current = rows.triggers.find(trigger.flow, trigger.name)
            if current is None:
                raise CannotFire("it was removed")
            firing = self._round(rows)
            outcome: str | CannotFire | InvalidInputs
            try:
                outcome = firing.start(current, slot, about, {**about, **unkept})
            except (CannotFire, InvalidInputs) as error:
                if digest is None:
                    raise
                outcome = error  # raised behind the commit, which notes it
                firing.put(current.held_up(firing.kept_of(error, trigger.flow), firing.now))
            else:
                firing.note(current, slot, outcome, {"d": digest})
                firing.store()
        if not isinstance(outcome, str):
            raise outcome
        self.engine.committed()
        return FiredRequest(outcome, is_new=True, digest=digest)

    def pass_by(self, trigger: StoredTrigger, why: str) -> None:
        """Keep why a request to a trigger has started nothing; the text has nothing of its body.

        Raises:
            As `FlowEngine.work`.
        """
        with self.store.working(self.term()) as rows:
            current = rows.triggers.find(trigger.flow, trigger.name)
            if current is not None:
                rows.triggers.put(current.held_up(why[:_WHY_MAX], self.now()))

    def _round(self, rows: ExecutionRows) -> "_Round":
        return _Round(rows, self.engine.batch(rows), self.language, self.now())


@dataclass
class _Round:
    """One transaction of firings."""

    rows: ExecutionRows
    batch: FlowBatch
    language: Expressions
    now: datetime
    _flows: dict[str, tuple[FlowDocument, FlowPlan]] = field(default_factory=dict)

    def put(self, trigger: StoredTrigger) -> StoredTrigger:
        """Store a trigger as it is now."""
        self.rows.triggers.put(trigger)
        return trigger

    def store(self) -> None:
        """Work in what was started, and store it."""
        self.batch.work()
        self.rows.store(self.batch.changes())

    def fire_slots(self, trigger: StoredTrigger, now: datetime) -> bool:
        """Fire the slots that are due; return whether more are."""
        definition, position = trigger.definition, trigger.position
        assert isinstance(definition, ScheduleTrigger)
        assert position is not None, "a schedule begins with its definition"
        try:
            due = due_slots(definition.schedule, position, now)
            moved = trigger.at_slot(due.position)
        except BadSchedule as error:  # the zones of this machine are other ones
            self.put(replace(trigger, problem=str(error), problem_at=now, next_at=None))
            return False
        moved = replace(moved, passed=moved.passed + due.passed)
        if due.passed and not due.fire:
            why = f"nobody saw its slots until {due.position:%Y-%m-%dT%H:%M:%SZ}"
            moved = replace(moved, problem=why, problem_at=now)
        for slot in due.fire:
            about = about_slot(moved, slot, due.passed)
            moved = self._fire(moved, slot_name(slot), about)
        self.put(moved)
        return due.more

    def take_publish(self, trigger: StoredTrigger, seen: PublishSeen) -> StoredTrigger:
        """Fire for a publish, or let it wait; return the trigger as it is then."""
        definition = trigger.definition
        assert isinstance(definition, PublishedTrigger)
        if not trigger.watches or not definition.wants(seen.table, seen.supervisor):
            return trigger
        slot = slot_of_text(seen.id)
        if self.rows.triggers.firing(trigger.flow, trigger.name, slot) is not None:
            return trigger  # taken before a crash
        if trigger.paused:
            return self.put(trigger.held_up(_PAUSED, self.now))
        if definition.mode == "each":
            about = about_publishes(trigger, [seen.about])
            return self.put(self._fire(trigger, slot, about))
        number = trigger.numbered + 1
        self.rows.triggers.take(trigger, Firing(slot, number, self.now, None, seen.about))
        return self.put(replace(trigger, numbered=number, waiting=trigger.waiting + 1))

    def fire_waiting(self, trigger: StoredTrigger) -> None:
        """Start one execution for the publishes that wait, unless the one before still runs."""
        if trigger.paused or _runs(self.batch.execution, trigger):
            return
        waiting = self.rows.triggers.waiting_firings(trigger.flow, trigger.name, COALESCED_MAX)
        if not waiting:
            self.put(replace(trigger, waiting=0))
            return
        about = about_publishes(trigger, [each.about for each in waiting])
        slot = f"{waiting[0].slot}.{waiting[0].number}"
        try:
            execution = self.start(trigger, slot, about, about)
        except (CannotFire, InvalidInputs) as error:  # they wait until it is mended
            why = str(error)[:_WHY_MAX]
            if why != trigger.problem:
                self.put(replace(trigger, problem=why, problem_at=self.now))
            return
        slots = [each.slot for each in waiting]
        self.rows.triggers.name_execution(trigger, slots, execution)
        left = trigger.waiting - len(waiting)
        self.put(self._fired(replace(trigger, waiting=left), execution))

    def start(
        self,
        trigger: StoredTrigger,
        slot: str,
        about: Mapping[str, JsonValue],
        variables: Mapping[str, JsonValue],
    ) -> str:
        """Start an execution, and return its id.

        Raises:
            CannotFire, InvalidInputs: nothing is started.
        """
        document, plan = self._flow(trigger.flow)
        given = trigger.definition.inputs
        body = variables.get("body")
        values = body if isinstance(body, dict) and not given else {}
        for name, value in given.items():
            try:
                values[name] = resolve(value, {"trigger": dict(variables)}, self.language)
            except ExpressionFailed as error:
                kept = f"the expression of the input {name} fails with what the request has sent"
                raise CannotFire(str(error), kept if "body" in variables else None) from None
        execution = Execution(
            f"{trigger.flow}:{trigger.name}:{slot}",
            plan,
            bind_inputs(document, values),
            self.now,
            trigger=about,
            labels=document.labels,
        )
        try:
            self.batch.start(execution)
        except ContentRefused as error:
            raise CannotFire(str(error)) from None
        return execution.id

    def kept_of(self, error: CannotFire | InvalidInputs, flow: str) -> str:
        """Return why a request does not fire, without what it has sent: values, unknown names."""
        if isinstance(error, CannotFire):
            return error.kept[:_WHY_MAX]
        known = {one.name for one in self._flow(flow)[0].inputs}
        wrong = {each.pointer.removeprefix("/inputs/") for each in error.errors}
        parts = [f"{name} is missing or does not fit" for name in sorted(wrong & known)]
        if wrong - known:
            parts.append(f"names that are no inputs of {flow}: {len(wrong - known)}")
        return f"the inputs do not fit: {'; '.join(parts)}"[:_WHY_MAX]

    def note(
        self, trigger: StoredTrigger, slot: str, execution: str, about: Mapping[str, JsonValue]
    ) -> None:
        """Note that a trigger has started an execution."""
        self.put(self._noted(trigger, slot, execution, about))

    def _fire(
        self, trigger: StoredTrigger, slot: str, about: Mapping[str, JsonValue]
    ) -> StoredTrigger:
        if self.rows.triggers.firing(trigger.flow, trigger.name, slot) is not None:
            return trigger
        try:
            execution = self.start(trigger, slot, about, about)
        except (CannotFire, InvalidInputs) as error:
            return trigger.held_up(str(error)[:_WHY_MAX], self.now)
        return self._noted(trigger, slot, execution, {})

    def _noted(
        self, trigger: StoredTrigger, slot: str, execution: str, about: Mapping[str, JsonValue]
    ) -> StoredTrigger:
        number = trigger.numbered + 1
        self.rows.triggers.take(trigger, Firing(slot, number, self.now, execution, about))
        return self._fired(replace(trigger, numbered=number), execution)

    def _fired(self, trigger: StoredTrigger, execution: str) -> StoredTrigger:
        return replace(
            trigger,
            fired=trigger.fired + 1,
            last_at=self.now,
            last_execution=execution,
            problem="",
            problem_at=None,
        )

    def _flow(self, name: str) -> tuple[FlowDocument, FlowPlan]:
        if name not in self._flows:
            newest = self.rows.flows.newest(name)
            if newest is None or newest.document is None:
                raise CannotFire(f"the flow {name} was deleted")
            try:
                document = read_stored(newest.document)
            except InvalidFlow as error:  # another release has taken it
                raise CannotFire(f"this release does not take the flow: {error}") from None
            self._flows[name] = document, compile_flow(document, newest.version)
        return self._flows[name]


def _begin_of(trigger: StoredTrigger) -> WatchBegins:
    """Return the event behind which a trigger watches."""
    return WatchBegins(trigger.flow, trigger.name, trigger.version)


def _runs(find: Callable[[str], Execution | None], trigger: StoredTrigger) -> bool:
    """Whether the execution that a trigger has started last has not ended."""
    current = None if trigger.last_execution is None else find(trigger.last_execution)
    return current is not None and not current.state.ended
