"""Seeds that failed once run first, and each has left a test; three of them left theirs here."""

from pathlib import Path
from random import Random

import pytest

from tests.simulation import corpus
from tests.simulation.checkers.broken import LATER, Broken
from tests.simulation.checkers.invariants import after_event
from tests.simulation.faults.faults import draw
from tests.simulation.world.world import World

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("entry", corpus.entries(), ids=lambda entry: str(entry.seed))
def test_each_seed_names_a_test_that_exists(entry: corpus.Entry) -> None:
    file, _, test = entry.test.partition("::")
    assert f"\ndef {test}(" in (ROOT / file).read_text(), entry
    assert entry.what


def test_the_seeds_of_the_corpus_run_first_and_each_once() -> None:
    seeds = corpus.seeds()
    assert len(set(seeds)) == len(seeds) == len(corpus.entries())
    assert corpus.before(range(seeds[0] - 1, seeds[0] + 1)) == [*seeds, seeds[0] - 1]


def test_a_successor_that_was_reset_with_its_predecessor_began_at_the_right_place(
    world: Broken,
) -> None:
    """Seed 4005: both were discarded before the checker of chains saw the successor at all.

    Nothing of the predecessor holds any more; when the successor was opened, its end did.
    """
    world.fix_end("g1", 5)
    assert after_event(world) == []
    world.generation("g2", 2, start=5)
    world.task("t2", "g2")
    world.reset(to=4)
    assert after_event(world) == []


def test_a_successor_at_the_wrong_place_is_seen_though_a_reset_took_both(world: Broken) -> None:
    world.fix_end("g1", 5)
    assert after_event(world) == []
    world.generation("g2", 2, start=3)
    world.reset(to=4)
    assert [line.partition(" ")[0] for line in after_event(world)] == ["I10"]


def test_a_successor_that_was_reset_began_where_an_empty_range_had_begun(world: Broken) -> None:
    """Seed 91522: the one before it ended EMPTY, as nobody had seen, and never had an end."""
    assert after_event(world) == []
    world.sql("UPDATE generations SET state='EMPTY', ended_at=?", LATER)
    world.sql("UPDATE generation_partitions SET open=0")
    world.sql("UPDATE tasks SET status='FAILED', ended_at=?", LATER)
    world.generation("g2", 2)
    world.reset(to=4)
    world.sql("UPDATE generations SET state='EMPTY' WHERE id='g1'")
    assert after_event(world) == []


def test_checkers_look_at_a_frozen_worker_before_the_end_of_faults_thaws_it() -> None:
    """Seed 15173: else its pause seems to have lasted all the time that it stood still."""
    chance = Random("any run")
    world = World(0, draw(chance, chance))
    worker = world.workers[0]
    worker.start()
    worker.frozen_until = 60.0
    world.kernel.run(30.0)
    world.changed = False
    looks: list[tuple[bool, bool]] = []
    world.kernel.observed = lambda: looks.append((world.changed, worker.frozen))

    world.calm_down()

    assert looks == [(True, True)]
    assert not worker.frozen


def test_a_verdict_on_a_worker_is_judged_when_it_is_given(world: Broken) -> None:
    """Seed 60062: the lease lapsed between the verdict and its commit."""
    world.happened("leads", overlord="a", loses_from=60.0)
    world.happened("lost", overlord="a", worker="w1", leads=True, at=61.0)
    world.happened("leads", overlord="a", loses_from=80.0)
    world.happened("commit", overlord="a", term=1)
    world.sql("UPDATE tasks SET status='FAILED', ended_at=?, reason='worker w1 is lost'", LATER)
    assert after_event(world) == []
