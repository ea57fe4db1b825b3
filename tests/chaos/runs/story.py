"""One whole run: what it is given, in which order things happen, what comes out."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from tests.chaos.judges.amount import Amount, Wanted
from tests.chaos.judges.books import Books, TaskRow
from tests.chaos.judges.oracle import Oracle
from tests.chaos.judges.pauses import pauses_in
from tests.chaos.judges.report import Result, commit
from tests.chaos.judges.rereads import OverlordsOnly, Part, Rereads
from tests.chaos.judges.rules import judge_run
from tests.chaos.processes.fleet import PAUSE_LEASE_S, Fleet, Shape
from tests.chaos.processes.producer import streaming
from tests.chaos.processes.proxy import FaultProxy
from tests.chaos.runs.finish import End, finish
from tests.chaos.runs.run import Run
from tests.chaos.runs.schedule import Fault
from tests.chaos.runs.soak import Soak
from tests.chaos.runs.walk import Plan, Walk
from tests.environment.brokers import create_topic


@dataclass(frozen=True)
class Story:
    """What is to happen."""

    form: str
    seed: int
    shape: Shape
    bootstrap: str
    topic: str
    wire: FaultProxy | None = None
    """To the broker, if it can be disturbed."""
    walk: Plan | None = None
    faults: list[Fault] = field(default_factory=list)
    overlords_only: Part | None = None
    """The soak begins with kills of overlords, and nothing else, to see what is re-read."""
    wanted: Wanted = field(default_factory=Wanted)
    """The soak ends with it, or with its last fault; what is missing then is a trouble."""
    within_s: float = 3600.0
    """No fault of the soak begins later."""
    rate_per_s: int = 200


def play(story: Story, say: Callable[[str], None]) -> Result:
    """Carry it out; nothing runs any more when it returns or raises.

    Raises:
        AssertionError: the oracle found a loss or a double in mid-run, or it did not go on.
    """
    began, tested = time.monotonic(), commit()  # a commit made meanwhile is not what is tested
    create_topic(story.bootstrap, story.topic, partitions=4)
    with (
        Fleet(story.shape) as fleet,
        Books(story.shape.postgres, story.topic) as books,
        streaming(
            story.bootstrap, story.topic, seed=story.seed, rate_per_s=story.rate_per_s
        ) as stream,
    ):
        oracle = Oracle(story.bootstrap, story.topic, fleet.warehouse)
        run = Run(fleet, books, stream, oracle, story.bootstrap, story.topic, say)
        walk = Walk(run, story.walk, story.seed) if story.walk is not None else None
        if walk is not None:
            run.arming = walk
        run.begin()
        say("it publishes; from now on it is disturbed")
        if walk is not None:
            walk.run()
        rereads, amount = _soak(story, run)
        say("calm")
        end = finish(run)
        run.faults.published(books.last_published())
        tasks, publications = books.tasks(), books.look().publications
        pauses = pauses_in(fleet.logs, story.shape.workers)
        judged = judge_run(books, run.witness, pauses, PAUSE_LEASE_S)
    result = _result(story, run, end, tasks, tested)
    return replace(
        result,
        minutes=round((time.monotonic() - began) / 60, 1),
        publications=publications,
        points_hit=dict(walk.hits) if walk is not None else {},
        points_missed=dict(walk.missed) if walk is not None else {},
        hits_wanted=story.walk.hits_each if story.walk is not None else 0,
        soak=amount,
        soak_wanted=story.wanted,
        rereads=rereads,
        judged=judged,
        leaders_slept=walk.findings if walk is not None else (),
        processes_left=tuple(fleet.left_over()),
    )


def _soak(story: Story, run: Run) -> tuple[Rereads | None, Amount]:
    soak, rereads = Soak(run, story.wire), None
    if story.overlords_only is not None:
        rereads = OverlordsOnly(run, story.seed).measure(story.overlords_only)
    return rereads, soak.run(story.faults, story.wanted, story.within_s)


def _result(story: Story, run: Run, end: End, tasks: list[TaskRow], tested: str) -> Result:
    p50, p95, longest = run.faults.recovery()
    again, why = run.reads.again(tasks, run.faults)
    return Result(
        form=story.form,
        seed=story.seed,
        date=datetime.now(UTC).strftime("%Y-%m-%d %H:%M"),
        commit=tested,
        faults=dict(run.faults.kinds()),
        kills=run.faults.kills(),
        records=end.found.records,
        checks=run.checks,
        lost=end.found.lost,
        duplicated=end.found.duplicated,
        recovery_s=(round(p50, 1), round(p95, 1), round(longest, 1)),
        unrecovered=sum(f.recovered_s is None for f in run.faults.injected),
        caught_up_s=end.caught_up_s,
        read_again=again,
        read_again_why=tuple(why),
        rows_left=sum(end.rows_left.values()),
        files_verified=end.verified_files,
        rows_verified=end.verified_rows,
        command_output=end.command_output,
    )
