"""The checkers: after each batch what must never be, at the end what must have come.

X1 and so on are the names of the checks in docs/explanation/proof-of-executions.md.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from supervisor.core.executions.entities import Execution, TaskRun
from supervisor.core.executions.plan import CallWork, FlowPlan, OnError, OnLost, SleepWork
from tests.supervisor.core.crashes.checkers.history import History
from tests.supervisor.core.crashes.world.log import Record
from tests.supervisor.core.crashes.world.messages import HISTORY
from tests.supervisor.core.crashes.world.world import PARTITIONS, World

ENDS = ("SUCCESS", "FAILED", "KILLED")
STEP_ENDS = (*ENDS, "SKIPPED")


@dataclass
class Judge:
    """Looks at what was made visible, and at the sink's ledger."""

    plans: dict[str, FlowPlan]
    history: History = field(default_factory=History)
    world: World = field(init=False)
    _visited: int = 0
    _lives: dict[tuple[str, int], str] = field(default_factory=dict)

    def see(self, records: list[Record]) -> list[str]:
        """Return what a batch of records breaks."""
        wrong = self.history.see(records)
        wrong += self._effects()
        if any(isinstance(record.value, Execution) for record in records):
            wrong += self._slots()
        return wrong

    def drops(self) -> Counter[str]:
        """Return how many inputs were dropped, by their reasons."""
        total: Counter[str] = Counter()
        for position in self.history.positions.values():
            total.update(position.drops)
        return total

    def is_drained(self) -> bool:
        """Whether every letter was read, and every execution is forgotten."""
        places = [(HISTORY, part) for part in range(PARTITIONS)]
        for place in places:
            position = self.history.positions.get(place[1])
            start = 0 if position is None else position.next
            if self.world.log.read(place, start)[0]:
                return False
        return set(self.history.heads) <= self.history.gone

    def at_end(self) -> list[str]:
        """Return what is not as it must be once all is over."""
        return [
            *self._rest(),
            *self._counts(),
            *self._starts(),
            *self._effects(),
            *(line for name in self.history.heads for line in self._execution(name)),
            *self._ledger(),
        ]

    def _effects(self) -> Iterator[str]:
        """X3: an effect comes after its grant, by its holder, once per attempt."""
        visits = self.world.sink.visits
        for job, life, _ in visits[self._visited :]:
            key = (job.run, job.attempt)
            holder = self.history.granted.get(key)
            if holder is None or holder.incarnation != life:
                yield f"X3 {job.step} attempt {job.attempt} runs without a grant"
            if key in self._lives:
                yield f"X3 {job.step} attempt {job.attempt} runs twice"
            self._lives[key] = life
        self._visited = len(visits)

    def _slots(self) -> Iterator[str]:
        """X7: no flow runs more often than it may."""
        running: Counter[str] = Counter()
        for head in self.history.heads.values():
            if head.began_at is not None and head.state not in ENDS:
                running[head.plan.flow] += 1
        for flow, number in running.items():
            rule = self.plans[flow].concurrency
            if rule is not None and number > rule.limit:
                yield f"X7 {number} executions of {flow} run, {rule.limit} may"

    def _rest(self) -> Iterator[str]:
        history = self.history
        for name, head in history.heads.items():
            if head.state not in ENDS:
                runs = history.runs[name].values()
                open_ones = [
                    f"{run.step} {run.state}" for run in runs if run.state not in STEP_ENDS
                ]
                yield f"X10 {name} is {head.state} and goes no further: {', '.join(open_ones)}"
            elif name not in history.gone:
                yield f"X10 {name} is never forgotten"
        for gate in history.gates.values():
            yield f"X7 the gate {gate.name} is held by {sorted(gate.holders)}"
        if not self.is_drained():
            yield "X10 letters are left"
        if self.world.database.projected:
            yield f"X11 the projection keeps {sorted(self.world.database.projected)}"
        for record in history.dead:
            step = getattr(record.value, "run", "")
            if step != "nothing":
                yield f"X4 a letter of {record.key} is dead: {record.value}"

    def _counts(self) -> Iterator[str]:
        """X4: each input is in a version, or in a counted drop."""
        for part, position in self.history.positions.items():
            came = self.history.letters[part] + position.own
            went = position.versions + position.purged + sum(position.drops.values())
            if came != went:
                yield f"X4 partition {part} had {came} inputs, and accounts for {went}"

    def _starts(self) -> Iterator[str]:
        """X5: one execution per request; children have a parent that knows them."""
        wanted = {row.execution for row in self.world.database.rows.values() if row.plan}
        roots = {name for name, head in self.history.heads.items() if head.parent is None}
        if wanted != roots:
            yield f"X5 wanted were {sorted(wanted)}, there are {sorted(roots)}"

    def _execution(self, name: str) -> Iterator[str]:
        history, head = self.history, self.history.heads[name]
        events = history.events[name]
        counts = Counter((one.name, one.run, one.about.get("attempt")) for one in events)
        for (kind, run, attempt), number in counts.items():
            if kind in ("execution-started", "execution-ended") and number != 1:
                yield f"X8 {name} has {number} times {kind}"
            if kind.startswith(("step-", "attempt-")) and number != 1:
                yield f"X8 {name} has {number} times {kind} of {run} {attempt}"
            if kind in ("step-started", "attempt-started"):
                other = (kind.replace("started", "ended"), run, attempt)
                if counts[other] != 1:
                    yield f"X8 {run} {attempt} of {name} has no end"
        for kind in ("execution-started", "execution-ended"):
            if counts[(kind, "", None)] != 1:
                yield f"X8 {name} has no {kind}"
        yield from self._steps(head)
        yield from self._phases(head)
        yield from self._failures(head)

    def _steps(self, head: Execution) -> Iterator[str]:
        """Each step once, after all that it comes after, and no sooner than it may."""
        runs, events = self.history.runs[head.id], self.history.events[head.id]
        began = {one.run: one for one in events if one.name == "step-started"}
        over = {one.run: one for one in events if one.name == "step-ended"}
        if set(began) != set(runs):
            yield f"X8 {head.id} has other runs than events"
        places: dict[tuple[object, ...], TaskRun] = {}
        for run in runs.values():
            place: tuple[object, ...] = (
                run.scope.phase,
                run.scope.parent,
                run.scope.item,
                run.step,
            )
            if place in places:
                yield f"X8 {run.step} of {head.id} is there twice"
            places[place] = run
        for place, run in places.items():
            step = head.plan.step(run.step)
            for name in step.after:
                before = places.get((*place[:3], name))
                good = before is not None and (
                    before.state in ("SUCCESS", "SKIPPED")
                    or (
                        before.state == "FAILED"
                        and head.plan.step(name).on_error is OnError.CONTINUE
                    )
                )
                if before is None or not good:
                    yield f"X8 {run.step} has begun without {name}"
                elif over[before.id].number > began[run.id].number:
                    yield f"X8 {run.step} has begun before the end of {name}"
            yield from self._times(run, step.work)
            yield from self._attempts(run)

    @staticmethod
    def _times(run: TaskRun, work: object) -> Iterator[str]:
        """X12: no time comes early."""
        if isinstance(work, SleepWork) and run.state == "SUCCESS" and run.ended_at is not None:
            slept = (run.ended_at - run.created_at).total_seconds()
            if isinstance(work.seconds, int) and slept < work.seconds:
                yield f"X12 {run.step} has slept {slept} s"

    def _attempts(self, run: TaskRun) -> Iterator[str]:
        for number, attempt in enumerate(run.attempts, start=1):
            if attempt.number != number:
                yield f"X6 {run.step} has no attempt {number}"
            if attempt.ended_at is None:
                yield f"X6 attempt {number} of {run.step} has no end"
        for old, new in pairwise(run.attempts):
            known = old.state == "FAILED" and old.error is not None and old.error.known
            if new.effect - old.effect != int(known):
                yield f"X6 effect {new.effect} of {run.step} after {old.effect}, {old.state}"
        asked = any(
            event.name == "retry-requested" and event.run == run.id
            for events in self.history.events.values()
            for event in events
        )
        tries = [one for one in run.attempts if one.state not in ("LOST", "KILLED")]
        limit = self._tries(run)
        if not asked and len(tries) > limit:
            yield f"X6 {run.step} has {len(tries)} attempts, {limit} may be"

    def _tries(self, run: TaskRun) -> int:
        for plan in self.plans.values():
            try:
                return plan.step(run.step).retry.attempts
            except KeyError:
                continue
        return 0

    def _phases(self, head: Execution) -> Iterator[str]:
        """X9: `finally` begins once, and last."""
        runs = list(self.history.runs[head.id].values())
        tidied = [one for one in runs if one.scope.phase == "finally" and not one.scope.parent]
        roots = {step.name for step in head.plan.always if not step.after}
        if head.began_at is not None and roots and not self._killed(head.id, force=True):
            well = all(one.state in ("SUCCESS", "SKIPPED") for one in tidied)
            if not tidied or (well and not roots <= {one.step for one in tidied}):
                yield f"X9 finally of {head.id} has not begun"
        began = min((one.created_at for one in tidied), default=None)
        for run in runs:
            late = began is not None and run.ended_at is not None and run.ended_at > began
            if late and run.scope.phase != "finally":
                yield f"X9 {run.step} ends after finally has begun"

    def _failures(self, head: Execution) -> Iterator[str]:
        """X8: no failure and no kill is forgotten."""
        runs = self.history.runs[head.id]
        for run in runs.values():
            overlooked = head.plan.step(run.step).on_error is OnError.CONTINUE
            if run.state == "FAILED" and not overlooked:
                above = runs.get(run.scope.parent)
                around = head.state if above is None else above.state
                if around == "SUCCESS":
                    yield f"X8 {run.step} has failed, and what is around it has not"
        if self._killed(head.id) and head.state != "KILLED":
            yield f"X8 {head.id} was killed, and ends as {head.state}"

    def _killed(self, name: str, *, force: bool = False) -> bool:
        return any(
            one.name == "kill-requested" and (one.about.get("force") or not force)
            for one in self.history.events[name]
        )

    def _ledger(self) -> Iterator[str]:
        """X3: an effect per step once; `onLost: fail` lets no step run again after a loss."""
        for place, keys in self.world.sink.applied.items():
            if len(keys) > 1:
                yield f"X3 {self._name(place)} has {len(keys)} effects: {sorted(keys)}"
        visits: Mapping[str, list[str]] = defaultdict(list)
        for job, life, _ in self.world.sink.visits:
            visits[job.run].append(life)
        for head in self.history.heads.values():
            retried = {
                one.run for one in self.history.events[head.id] if one.name == "retry-requested"
            }
            for run in self.history.runs[head.id].values():
                step = head.plan.step(run.step)
                once = isinstance(step.work, CallWork) and step.on_lost is OnLost.FAIL
                once = once and step.retry.attempts == 1 and run.id not in retried
                if once and len(visits[run.id]) > 1:
                    yield f"X3 {run.step} has run {len(visits[run.id])} times with onLost: fail"
                called = run.state == "SUCCESS" and isinstance(step.work, CallWork)
                if called and not self.world.sink.applied.get(run.id):
                    yield f"X3 {run.step} is SUCCESS without an effect"

    def _name(self, run: str) -> str:
        for runs in self.history.runs.values():
            if run in runs:
                return runs[run].step
        return run
