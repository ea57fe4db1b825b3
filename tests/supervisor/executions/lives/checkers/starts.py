"""X5: one execution per key, per publish, per slot of a schedule; nothing starts by itself."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import cast

from supervisor.core.executions.entities import Execution
from tests.supervisor.core.crashes.checkers.rules import ENDS
from tests.supervisor.executions.lives.checkers.rows import TriggerRow
from tests.supervisor.executions.lives.processes.outside import Wish
from tests.supervisor.executions.lives.world.world import BEGAN, World


@dataclass
class StartChecker:
    """Counts births, and compares them with what was asked for."""

    world: World
    wishes: list[Wish]
    births: Counter[str] = field(default_factory=Counter)
    named: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Trigger and publish -> the executions that name it."""
    slots: dict[str, set[datetime]] = field(default_factory=lambda: defaultdict(set))
    hooks: set[str] = field(default_factory=set)
    last: dict[str, str] = field(default_factory=dict)
    """Trigger -> its newest execution."""

    def born(self, new: Execution, heads: Mapping[str, Execution]) -> Iterator[str]:
        """Yield what is wrong with the birth of an execution."""
        self.births[new.id] += 1
        kind, trigger = new.trigger.get("type"), str(new.trigger.get("name"))
        if new.parent is not None:
            parent, run, attempt = new.parent.split("/")
            head = heads.get(parent)
            if head is None or run not in head.runs:
                yield f"X5 {new.id} has no parent {run} {attempt}"
            elif self.births[new.id] <= self.births[parent]:  # a parent may come again, too
                return
        elif new.rerun is not None:
            if not self._is_wanted("rerun", new.rerun.execution):
                yield f"X5 nobody wants the rerun {new.id}"
            return
        elif kind == "request":
            if not self._is_wanted("start", new.id):
                yield f"X5 nobody wants {new.id}"
            return
        elif kind == "published":
            yield from self._published(new, trigger, heads)
        elif kind == "schedule":
            yield from self._slot(new, trigger)
        elif kind == "webhook":
            self.hooks.add(new.id)
            return  # `_hooks` counts: a key is forgotten with its execution
        if self.births[new.id] > 1:
            yield f"X5 {new.id} begins {self.births[new.id]} times"

    def _is_wanted(self, kind: str, about: str) -> bool:
        return any(
            wish.kind == kind and wish.about == about and wish.tries and not wish.over
            for wish in self.wishes
        )

    def _published(
        self, new: Execution, trigger: str, heads: Mapping[str, Execution]
    ) -> Iterator[str]:
        for publish in cast("list[dict[str, str]]", new.trigger["publishes"]):
            self.named[trigger, publish["id"]] += 1
            if self.named[trigger, publish["id"]] > 1:
                yield f"X5 {publish['id']} is named twice, at last by {new.id}"
        before = heads.get(self.last.get(trigger, ""))
        if trigger == "coalesced" and before is not None and before.state not in ENDS:
            yield f"X5 {new.id} begins before the end of {before.id}"
        self.last[trigger] = new.id

    def _slot(self, new: Execution, trigger: str) -> Iterator[str]:
        slot = datetime.fromisoformat(str(new.trigger["slot"]))
        if slot in self.slots[trigger]:
            yield f"X5 the slot {slot} has two executions"
        self.slots[trigger].add(slot)
        if slot > new.created_at:
            yield f"X12 {new.id} begins before its slot"

    def at_end(self, schedule: Mapping[str, object], row: TriggerRow | None) -> Iterator[str]:
        """Yield what has not come; `row`: of the schedule that fires `three`."""
        yield from self._publishes()
        yield from self._hooks()
        yield from self._acked()
        if row is not None:
            yield from self._schedule(schedule, row)

    def _publishes(self) -> Iterator[str]:
        events = self.world.metadata.events
        for trigger in ("each", "coalesced"):
            watches = [
                at for at, event in enumerate(events) if event.body.get("trigger") == trigger
            ]
            for at, event in enumerate(events):
                if event.kind != "publish" or not watches:
                    continue
                number = self.named[trigger, event.key]
                if at > watches[-1] and number != 1:
                    yield f"X5 {event.key} is named {number} times by {trigger}"
                if at < watches[0] and number:
                    yield f"X5 {event.key} came before {trigger} was there"

    def _hooks(self) -> Iterator[str]:
        by_key: dict[str, list[Wish]] = defaultdict(list)
        for wish in self.wishes:
            if wish.kind.endswith("hook"):
                by_key[wish.about].append(wish)
        done: set[str] = set()
        for key, some in by_key.items():
            answers = [one for one in some if one.answer is not None]
            ids = {cast("tuple[str, bool]", one.answer)[0] for one in answers}
            births = sum(self.births[each] for each in ids)
            if len(ids) != 1 or len({one.kind for one in answers}) > births:
                yield f"X5 {key} gave {len(ids)} executions, and took two bodies"
            if births > len(some):
                yield f"X5 {key} came {len(some)} times, and began {births} executions"
            refused = {one.refused for one in some if one.answer is None}
            if not refused <= {"ExecutionConflict"}:
                yield f"X5 {key} was refused: {sorted(refused)}"
            done |= ids
        if self.hooks != done:
            yield f"X5 webhooks have started {sorted(self.hooks)}, and name {sorted(done)}"

    def _acked(self) -> Iterator[str]:
        """What was answered as started is, or was, there."""
        for wish in self.wishes:
            if wish.kind in ("start", "rerun") and wish.answer is not None:
                execution, _ = cast("tuple[Execution, bool]", wish.answer)
                if not self.births[execution.id]:
                    yield f"X5 {execution.id} was promised, and never began"

    def _schedule(self, schedule: Mapping[str, object], row: TriggerRow) -> Iterator[str]:
        """Each slot fired or was passed by, and none is missing up to the position."""
        assert row.position is not None
        position = datetime.fromisoformat(row.position).replace(tzinfo=UTC)
        every = int(str(schedule["cron"]).split()[0].removeprefix("*/"))
        fired = self.slots["cron"]
        due = _slots(every, BEGAN, position)
        first = min(fired, default=position)
        strays = fired - set(due)
        if strays:
            yield f"X5 {len(strays)} slots are none of the schedule, or are behind the position"
        if row.fired != len(fired):
            yield f"X5 the schedule counts {row.fired} firings of {len(fired)}"
        counted = row.fired + row.passed
        # The flow may be applied later than the world began: earlier slots are nobody's.
        if counted > len(due) or (fired and counted < len([one for one in due if one >= first])):
            yield f"X5 {counted} slots are accounted for, of {len(due)} up to {position}"
        if schedule["misfire"] == "all" and row.passed:
            yield f"X5 {row.passed} slots were passed by, and each has to be made up"


def _slots(every: int, after: datetime, until: datetime) -> Sequence[datetime]:
    """Return whole minutes that are divisible, behind one time and up to another."""
    at = after.replace(second=0, microsecond=0)
    slots = []
    while at <= until:
        if at > after and at.minute % every == 0:
            slots.append(at)
        at += timedelta(minutes=1)
    return slots
