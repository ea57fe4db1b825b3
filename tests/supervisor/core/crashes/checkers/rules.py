"""What holds of each execution, whatever engine runs it: its records, events and effects.

X1 and so on are the names of the checks in docs/explanation/proof-of-executions.md.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from supervisor.core.executions.entities import Execution, TaskRun
from supervisor.core.executions.plan import CallWork, OnError, OnLost, SleepWork
from tests.supervisor.core.crashes.checkers.history import History
from tests.supervisor.core.crashes.world.sink import Sink

ENDS = ("SUCCESS", "FAILED", "KILLED")
STEP_ENDS = (*ENDS, "SKIPPED")


@dataclass
class ExecutionRules:
    """Looks at what was seen of executions, and at the sink's ledger."""

    history: History
    sink: Sink
    _visited: int = 0
    _lives: dict[tuple[str, int], str] = field(default_factory=dict)
    _visits_of: Counter[str] = field(default_factory=Counter)
    """Task run -> how often it was made."""
    _forgotten: set[tuple[str, int, str]] = field(default_factory=set)
    """Grants of what was purged since: the holder may make it still."""

    def effects(self) -> Iterator[str]:
        """X3: an effect comes after its grant, by its holder, once per attempt."""
        visits = self.sink.visits
        for job, life, _ in visits[self._visited :]:
            key = (job.run, job.attempt)
            holder = self.history.granted.get(key)
            if (*key, life) in self._forgotten:
                continue
            if holder is None or holder.incarnation != life:
                yield f"X3 {job.step} attempt {job.attempt} runs without a grant"
            if key in self._lives:
                yield f"X3 {job.step} attempt {job.attempt} runs twice"
            self._lives[key] = life
            self._visits_of[job.run] += 1
        self._visited = len(visits)

    def forget(self, execution: str) -> None:
        """Forget an execution that was purged: one with its id may begin again, as a new one."""
        runs = self.history.runs.pop(execution, {})
        for key in [key for key in self.history.granted if key[0] in runs]:
            self._forgotten.add((*key, self.history.granted.pop(key).incarnation))
            self._lives.pop(key, None)
        for run in runs:
            self._visits_of.pop(run, None)
            self.sink.applied.pop(run, None)
        for answer in [key for key in self.sink.answers if key.startswith(f"{execution}/")]:
            del self.sink.answers[answer]
        self.history.heads.pop(execution)
        self.history.events.pop(execution, None)

    def slots(self) -> Iterator[str]:
        """X7: no flow, and no flow with one value of its key, runs more often than it may."""
        running: Counter[tuple[str, str]] = Counter()
        limits: dict[tuple[str, str], set[int]] = defaultdict(set)
        for head in self.history.heads.values():
            rule = head.plan.concurrency
            if rule is None or head.state in ENDS:
                continue
            key = "" if rule.key is None else str(head.inputs.get("k"))
            limits[(head.plan.flow, key)].add(rule.limit)
            if head.began_at is not None:
                running[(head.plan.flow, key)] += 1
        for gate, number in running.items():
            if number > max(limits[gate]):
                yield f"X7 {number} executions of {gate} run, {max(limits[gate])} may"

    def execution(self, name: str) -> Iterator[str]:
        """Return what is wrong with one execution that has ended."""
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
        yield from self._pauses(name)
        yield from self._phases(head)
        yield from self._failures(head)

    def _steps(self, head: Execution) -> Iterator[str]:
        """Each step once, after all that it comes after, and no sooner than it may."""
        runs, events = self.history.runs[head.id], self.history.events[head.id]
        began = {one.run: one for one in events if one.name == "step-started"}
        over = {one.run: one for one in events if one.name == "step-ended"}
        if set(began) != {run.id for run in runs.values() if not run.kept}:
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
                elif not (run.kept or before.kept) and (
                    over[before.id].number > began[run.id].number
                ):
                    yield f"X8 {run.step} has begun before the end of {name}"
            yield from self._times(run, step.work)
            yield from self._attempts(run, step.retry.attempts)

    @staticmethod
    def _times(run: TaskRun, work: object) -> Iterator[str]:
        """X12: no time comes early."""
        if isinstance(work, SleepWork) and run.state == "SUCCESS" and run.ended_at is not None:
            slept = (run.ended_at - run.created_at).total_seconds()
            if isinstance(work.seconds, int) and slept < work.seconds:
                yield f"X12 {run.step} has slept {slept} s"

    def _attempts(self, run: TaskRun, limit: int) -> Iterator[str]:
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
        if not asked and len(tries) > limit:
            yield f"X6 {run.step} has {len(tries)} attempts, {limit} may be"

    def _pauses(self, name: str) -> Iterator[str]:
        """X8: while an execution is paused, nothing of it begins."""
        paused = False
        for event in self.history.events[name]:
            if event.name in ("pause-requested", "resume-requested", "kill-requested"):
                paused = event.name == "pause-requested"
            elif paused and event.name in ("step-started", "attempt-started"):
                yield f"X8 {event.name} of {name} while it is paused"

    def _phases(self, head: Execution) -> Iterator[str]:
        """X9: `finally` begins once, and last."""
        runs = list(self.history.runs[head.id].values())
        tidied = [one for one in runs if one.scope.phase == "finally" and not one.scope.parent]
        roots = {step.name for step in head.plan.always if not step.after}
        if head.began_at is not None and roots and not self._killed(head.id, force=True):
            well = all(one.state in ("SUCCESS", "SKIPPED") for one in tidied)
            if not tidied or (well and not roots <= {one.step for one in tidied}):
                yield f"X9 finally of {head.id} has not begun"
        ids, order = {one.id for one in tidied}, self.history.events[head.id]
        began = min(
            (one.number for one in order if one.name == "step-started" and one.run in ids),
            default=None,
        )
        for run in runs:
            ends = [one.number for one in order if one.name == "step-ended" and one.run == run.id]
            late = began is not None and max(ends, default=0) > began
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

    def ledger(self, names: Iterable[str]) -> Iterator[str]:
        """X3: an effect per step once; `onLost: fail` lets no step run again after a loss."""
        for head in [self.history.heads[name] for name in names]:
            retried = {
                one.run for one in self.history.events[head.id] if one.name == "retry-requested"
            }
            for run in self.history.runs[head.id].values():
                step = head.plan.step(run.step)
                keys = self.sink.applied.get(run.id, set())
                if len(keys) > 1:
                    yield f"X3 {run.step} has {len(keys)} effects: {sorted(keys)}"
                once = isinstance(step.work, CallWork) and step.on_lost is OnLost.FAIL
                once = once and step.retry.attempts == 1 and run.id not in retried
                if once and self._visits_of[run.id] > 1:
                    yield f"X3 {run.step} has run {self._visits_of[run.id]} times with onLost: fail"
                called = run.state == "SUCCESS" and isinstance(step.work, CallWork) and not run.kept
                if called and not keys:
                    yield f"X3 {run.step} is SUCCESS without an effect"
