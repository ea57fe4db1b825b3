"""Random flows: graphs of steps of every kind, within small limits."""

import random
from datetime import timedelta

from pydantic import JsonValue

from supervisor.core.executions.plan import (
    ApproveWork,
    BatchWork,
    CallWork,
    Concurrency,
    EachWork,
    FailWork,
    FlowPlan,
    OnError,
    OnLost,
    ParallelWork,
    RetryRule,
    SetWork,
    SleepWork,
    Step,
    SubflowWork,
    SwitchWork,
    WhenFull,
    Work,
)

CHILD = "child"
NOBODY = "nobody"
"""The name of a flow that there is not."""
_KINDS = ("call",) * 20 + ("set", "sleep", "sleep", "approve", "fail")
_GROUPS = ("parallel", "parallel", "switch", "each", "each")


class Flows:
    """Makes plans."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._number = 0

    def plan(self, name: str, *, subflows: bool) -> FlowPlan:
        """Return a plan; only with `subflows` it starts executions of `CHILD`."""
        chance = self._chance
        full = chance.choice([WhenFull.QUEUE, WhenFull.QUEUE, *WhenFull])
        return FlowPlan(
            name,
            1,
            self._graph(2, subflows=subflows),
            on_failure=self._graph(0) if chance.random() < 0.4 else (),
            always=self._graph(0) if chance.random() < 0.5 else (),
            timeout=self._seconds(60, 240) if chance.random() < 0.2 else None,
            warn_after=self._seconds(5, 60) if chance.random() < 0.3 else None,
            kill_grace=self._seconds(1, 60),
            concurrency=Concurrency(chance.randint(1, 2), when_full=full)
            if chance.random() < 0.5
            else None,
        )

    def _seconds(self, low: int, high: int) -> timedelta:
        return timedelta(seconds=self._chance.randint(low, high))

    def _graph(self, depth: int, *, subflows: bool = False) -> tuple[Step, ...]:
        steps: list[Step] = []
        for _ in range(self._chance.randint(1, 4 if depth else 2)):
            before = [step.name for step in steps if self._chance.random() < 0.45]
            steps.append(self._step(depth, tuple(before), subflows=subflows))
        return tuple(steps)

    def _step(self, depth: int, after: tuple[str, ...], *, subflows: bool) -> Step:
        chance = self._chance
        self._number += 1
        name = f"s{self._number}"
        work = self._work(depth, subflows=subflows)
        calls = isinstance(work, CallWork)
        waits = calls or isinstance(work, ApproveWork | SubflowWork)
        condition = None
        if chance.random() < 0.15:
            condition = chance.choice(
                ["1 == 1", "1 == 2", f"steps.{after[0]}.state == 'SUCCESS'"]
                if after
                else ["1 == 1", "1 == 2"]
            )
        errors = [OnError.FAIL, OnError.CONTINUE, *([OnError.PAUSE] if waits else [])]
        tries = chance.randint(1, 3) if calls or isinstance(work, SubflowWork) else 1
        return Step(
            name,
            work,
            after=after,
            condition=condition,
            retry=RetryRule(tries, backoff=self._seconds(1, 5)),
            timeout=self._seconds(5, 60) if waits and chance.random() < 0.3 else None,
            queue_timeout=self._seconds(1, 12) if calls and chance.random() < 0.3 else None,
            on_error=chance.choice(errors),
            on_lost=chance.choice([OnLost.RETRY, *OnLost]),
        )

    def _work(self, depth: int, *, subflows: bool) -> Work:
        chance = self._chance
        kinds = _KINDS + (_GROUPS if depth else ()) + (("subflow",) * 3 if subflows else ())
        match chance.choice(kinds):
            case "set":
                return SetWork({"n": 3})
            case "sleep":
                return SleepWork(chance.randint(0, 40))
            case "approve":
                return ApproveWork("go on?")
            case "fail":
                return FailWork("so it is")
            case "parallel":
                return ParallelWork(self._graph(depth - 1, subflows=subflows))
            case "switch":
                cases = {name: self._graph(depth - 1, subflows=subflows) for name in "ab"}
                return SwitchWork(chance.choice(["'a'", "'b'", "'c'"]), cases)
            case "each":
                return self._each(self._graph(depth - 1, subflows=subflows))
            case "subflow":
                return SubflowWork(CHILD if chance.random() < 0.9 else NOBODY)
            case _:
                return CallWork("noop")

    def _each(self, steps: tuple[Step, ...]) -> EachWork:
        """Return a `forEach`; one of three has batches, which are executions of their own."""
        chance = self._chance
        items: list[JsonValue] = list(range(chance.randint(0, 4)))
        if chance.random() < 0.67:
            return EachWork(items, steps, chance.randint(1, 3))
        self._number += 1
        batch = Step(f"s{self._number}", BatchWork(steps))
        return EachWork(items, (batch,), chance.randint(1, 3), chance.randint(1, 3))
