"""What a task tells of its whole range for replicas to be compared: once it has read to the end."""

from dataclasses import replace

from tasks.contract.digests import NO_RECORDS, digest_of
from tasks.contract.messages import TaskPhase
from tasks.machine.events import Merge, Ordered, Publish, ReadBatch
from tasks.machine.machine import begin
from tasks.machine.state import JournalContents, report
from tests.tasks.bits import places
from tests.tasks.machine.bench import Bench
from tests.tasks.machine.machines import SMALL, bench, until
from tests.tasks.memory import MemoryLog, at, desired, order

WHOLE = digest_of(places(at(0), at(12)))


def test_a_range_is_told_of_when_it_is_read_and_not_before() -> None:
    """Goal: a report never has the digest of a part, which nobody could compare."""
    b = bench(5)
    b.run()
    b.log.stable = at(20)
    assert report(b.state, b.now).digest is None

    b.deliver(Ordered(b.now, order(2, end=at(12))))
    until(b, ReadBatch)
    assert report(b.state, b.now).digest is None
    until(b, Merge)

    assert b.state.phase is TaskPhase.FINISHING
    assert report(b.state, b.now).digest == WHOLE
    b.run()
    assert [p.request.digest for p in b.published] == [WHOLE]


def test_a_task_that_drops_its_tail_tells_of_what_it_kept_and_read_anew() -> None:
    """Source: protocol rule P14."""
    b = Bench(desired(start=at(0, 0)), MemoryLog(at(0, 0), at(4, 4)), SMALL)
    b.run()
    b.log.stable = at(10, 20)
    b.run(1)

    b.deliver(Ordered(b.now, order(2, end=at(10, 5))))
    assert report(b.state, b.now).position == at(10, 20)
    assert report(b.state, b.now).digest is None, "it has read more than the range"
    b.run()

    assert b.published[0].request.digest == digest_of(places(at(0, 0), at(10, 5)))


def test_a_range_without_records_has_a_digest_as_well() -> None:
    b = bench(9)
    b.deliver(Ordered(b.now, order(2, end=at(0))))
    until(b, Publish)

    assert report(b.state, b.now).digest == NO_RECORDS


def test_a_task_goes_on_from_its_journal_with_what_that_tells() -> None:
    """Goal: a line from before there were digests makes the range unknown, not different."""
    b = bench(5)
    b.run()
    [entry] = b.journal
    wanted = desired(first=order(1, end=at(5)), taken_up=True)

    digests = {}
    for name, line in (("new", entry), ("old", entry.model_copy(update={"digest": None}))):
        state, _ = begin(wanted, 2, JournalContents((line,), None), SMALL, 0.0)
        digests[name] = report(replace(state, busy=None), 0.0).digest

    assert digests == {"new": digest_of(places(at(0), at(5))), "old": None}
