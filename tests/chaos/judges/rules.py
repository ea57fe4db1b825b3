"""What must hold of the rows when a run is over, beside the records themselves.

    I5   no plan, and no term, is of an older leader than the one before it
    I7   who published a range has succeeded; a task that has ended stays as it ended
    I9   no task stands still for longer than the lease of its last possible order
    B9   a worker that slept publishes nothing with a task that was replaced meanwhile
    D2   an end is fixed once, and is the end that the range has

Each returns sentences, one for each violation; none of them asks the product's code.
"""

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from tests.chaos.judges.books import Books, EventRow, TaskRow
from tests.chaos.judges.pauses import Pause
from tests.chaos.judges.witness import Sleeper, Witness

SLACK_S = 20.0
"""A wire may hold an order up for eight seconds, and a machine that is all used up a wake-up."""


@dataclass(frozen=True)
class Judged:
    """What was looked at, and what is wrong with it."""

    looked_at: dict[str, int] = field(default_factory=dict)
    """Kind of row -> how many; a judge that saw none has judged nothing."""
    longest_pause_s: float = 0.0
    findings: tuple[str, ...] = ()


def judge_run(books: Books, seen: Witness, pauses: Sequence[Pause], lease_s: float) -> Judged:
    """Ask every judge about a run that is over; `lease_s` is the product's pause lease."""
    tasks, winners = books.tasks(), books.winners()
    endings, fixed = books.events("task-ended"), books.events("generation-end-fixed")
    orders = [Order(at) for at, _ in seen.terms]
    orders += [Order(t.at.timestamp(), t.generation) for t in books.events("generation-pausing")]
    bounds = Bounds(lease_s, orders, seen, time.time())
    looked_at = {
        "plans": len(seen.plans),
        "publications": len(winners),
        "endings of tasks": len(endings),
        "fixed ends": len(fixed),
        "pauses": len(pauses),
    }
    unseen = [what for what, n in looked_at.items() if not n]
    findings = (
        *falling_terms(seen.plans, seen.terms),
        *failed_winners(tasks, winners),
        *changed_verdicts(tasks, endings),
        *ends_fixed_again(fixed, books.ends()),
        *harmful_sleepers(seen.sleepers, tasks, winners),
        *long_pauses(pauses, bounds),
        *(f"no {what} were seen: nothing is judged by them" for what in unseen),
    )
    longest = max((bounds.end_of(p) - p.began for p in pauses), default=0.0)
    return Judged(looked_at, round(longest, 1), findings)


def falling_terms(plans: Mapping[int, int], terms: Sequence[tuple[float, int]]) -> list[str]:
    """I5: in the order in which they were written no plan is of an older term than one before."""
    findings, newest = [], 0
    for number, term in sorted(plans.items()):
        if term < newest:
            findings.append(f"I5: plan {number} is of term {term}, one before it of term {newest}")
        newest = max(newest, term)
    findings += [
        f"I5: term {old} became {new}" for (_, old), (_, new) in pairwise(terms) if new < old
    ]
    return findings


def failed_winners(tasks: Sequence[TaskRow], winners: Mapping[str, str]) -> list[str]:
    """I7: who published has succeeded, and whoever was told so has published."""
    published = set(winners.values())
    findings = [
        f"I7: {t.id} is {t.status}, and its range is published by it"
        for t in tasks
        if t.id in published and t.status != "SUCCESS"
    ]
    return findings + [
        f"I7: {t.id} was answered {t.outcome}, and has not published"
        for t in tasks
        if t.outcome == "committed" and t.id not in published
    ]


def changed_verdicts(tasks: Iterable[TaskRow], endings: Iterable[EventRow]) -> list[str]:
    """I7: a task ends once, and its row says at the end what was told when it did."""
    verdicts: dict[str, tuple[object, object]] = {}
    findings = []
    for ending in endings:
        verdict = (ending.detail.get("status"), ending.detail.get("reason"))
        if ending.task in verdicts:
            findings.append(
                f"I7: {ending.task} ended as {verdicts[ending.task]}, then as {verdict}"
            )
        verdicts.setdefault(ending.task, verdict)
    for task in tasks:
        first = verdicts.get(task.id)
        if task.ended_at is None and first is not None:
            findings.append(f"I7: {task.id} ended as {first}, and runs")
        elif task.ended_at is not None and first != task.verdict:
            findings.append(f"I7: {task.id} ended as {first}, and is {task.verdict}")
    return findings


def ends_fixed_again(fixed: Iterable[EventRow], ends: Mapping[str, Mapping[str, int]]) -> list[str]:
    """D2: one end for each range, and the one that was told is the one that it has."""
    fixed = list(fixed)
    times = Counter(event.generation for event in fixed)
    findings = [f"D2: {times[g]} ends were fixed for {g}" for g in times if times[g] > 1]
    findings += [
        f"D2: {event.generation} was to end at {event.detail.get('end')}, "
        f"and ends at {dict(ends.get(event.generation, {}))}"
        for event in fixed
        if event.detail.get("end") != dict(ends.get(event.generation, {}))
    ]
    return findings + [f"D2: {g} has an end that nobody fixed" for g in ends if g not in times]


def harmful_sleepers(
    sleepers: Iterable[Sleeper], tasks: Iterable[TaskRow], winners: Mapping[str, str]
) -> list[str]:
    """B9: what was replaced while its worker slept has not published, and stays as it ended."""
    rows, published = {t.id: t for t in tasks}, set(winners.values())
    findings = []
    for sleeper in sleepers:
        for before in sleeper.replaced:
            after = rows[before.id]
            if before.id in published and before.status != "SUCCESS":
                findings.append(
                    f"B9: {before.id} was replaced while {sleeper.worker} slept, and won"
                )
            if (after.verdict, after.ended_at) != (before.verdict, before.ended_at):
                findings.append(f"B9: {before.id} was {before.verdict}, and is {after.verdict}")
    return findings


@dataclass(frozen=True)
class Order:
    """A moment at which tasks may have been ordered to pause, for the first time or again."""

    at: float
    generation: str = ""
    """Empty: of any, for a new leader orders what the one before had ordered."""


@dataclass(frozen=True)
class Bounds:
    """Until when a pause may last."""

    lease_s: float
    orders: Sequence[Order]
    seen: Witness
    over: float
    """When the run was over."""

    def end_of(self, pause: Pause) -> float:
        """Return when it ended, at the latest: a worker that died pauses no more."""
        if pause.ended is not None:
            return pause.ended
        died = [at for at, name in self.seen.ended if name == pause.worker and at > pause.began]
        return min([*died, self.over])

    def latest(self, pause: Pause) -> float:
        """Return until when it may last: the lease of its last order, or its worker's sleep."""
        end = self.end_of(pause)
        ordered = max(
            [o.at for o in self.orders if o.generation in {"", pause.generation} and o.at < end],
            default=pause.began,
        )
        slept = [
            s.went_on_at
            for s in self.seen.sleepers
            if s.worker == pause.worker and s.stopped_at < end and s.went_on_at > pause.began
        ]
        return max([max(ordered, pause.began) + self.lease_s, *slept]) + SLACK_S


def long_pauses(pauses: Iterable[Pause], bounds: Bounds) -> list[str]:
    """I9, A2: a task that hears nothing more reads on when its lease is over."""
    return [
        f"I9: {p.task} stood still for {bounds.end_of(p) - p.began:.1f} s"
        for p in pauses
        if bounds.end_of(p) > bounds.latest(p)
    ]
