"""One whole run: what it is given, in which order things happen, what comes out."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from tests.brokers import create_topic
from tests.chaos.books import Books, TaskRow
from tests.chaos.finish import End, finish
from tests.chaos.fleet import Fleet, Shape
from tests.chaos.oracle import Oracle
from tests.chaos.producer import streaming
from tests.chaos.proxy import FaultProxy
from tests.chaos.report import Result, commit
from tests.chaos.run import Run
from tests.chaos.schedule import Fault
from tests.chaos.soak import Soak
from tests.chaos.walk import Plan, Walk


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
    minutes: float = 0.0
    """The soak ends then; 0: with its last fault."""
    kills: int = 0
    """The soak ends when so many processes were killed and so many records sent; 0: no end."""
    records: int = 0
    rate_per_s: int = 200


def tell(story: Story, say: Callable[[str], None]) -> Result:
    """Carry it out; nothing runs any more when it returns or raises.

    Raises:
        AssertionError: the oracle found a loss or a double in mid-run, or it did not go on.
    """
    began = time.monotonic()
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
        _soak(story, run)
        say("calm")
        end = finish(run)
        run.faults.published(books.last_published())
        tasks, publications = books.tasks(), books.look().publications
    result = _result(story, run, end, tasks)
    return replace(
        result,
        minutes=round((time.monotonic() - began) / 60, 1),
        publications=publications,
        points_hit=dict(walk.hits) if walk is not None else {},
        points_missed=dict(walk.missed) if walk is not None else {},
        processes_left=tuple(fleet.left_over()),
    )


def _soak(story: Story, run: Run) -> None:
    until = time.monotonic() + story.minutes * 60

    def enough() -> bool:
        timed = bool(story.minutes) and time.monotonic() > until
        counted = bool(story.kills) and run.faults.kills() >= story.kills
        return timed or (counted and len(run.stream.ledger.acknowledged) >= story.records)

    Soak(run, story.wire).run(story.faults, enough)


def _result(story: Story, run: Run, end: End, tasks: list[TaskRow]) -> Result:
    p50, p95, longest = run.faults.recovery()
    again, why = run.reads.again(tasks, run.faults)
    return Result(
        form=story.form,
        seed=story.seed,
        date=datetime.now(UTC).strftime("%Y-%m-%d %H:%M"),
        commit=commit(),
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
        told=end.told,
    )
