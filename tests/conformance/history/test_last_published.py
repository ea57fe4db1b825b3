"""The last publication of each supervisor that is not terminated."""

from supervisor.ports.store import Transaction
from tests.conformance.stories import (
    CLICKS,
    HOUR,
    MINUTE,
    NOON,
    P0,
    P1,
    Leader,
    attempt,
    opening,
    publication,
)
from tests.supervisor.core.snapshots import spec


def _publishes(tx: Transaction, number: int) -> None:
    generation, task = f"g{number}", f"t{number}"
    assert tx.generations.open(
        CLICKS, "table", opening(generation, number, {(P0, P1)[number - 1]: 0}), NOON
    )
    assert tx.tasks.start(attempt(task, generation))
    tx.segments.add(publication(generation, task, NOON + number * MINUTE), [])


def test_the_last_publication_is_of_the_present_supervisor(leader: Leader) -> None:
    """Goal: what a forgotten supervisor of the same id published is not its own."""
    with leader.writes() as tx:
        for who in (CLICKS, "silent"):
            tx.specs.append(who, spec(), NOON, "")
        assert tx.segments.last_published() == {}
        for number in (1, 2):
            _publishes(tx, number)
        assert tx.segments.last_published() == {CLICKS: NOON + 2 * MINUTE}
        tx.specs.append(CLICKS, None, NOON + HOUR, "")
        assert tx.segments.last_published() == {}, "it is terminated"
        tx.specs.append(CLICKS, spec(), NOON + HOUR, "")
        assert tx.segments.last_published() == {CLICKS: NOON + 2 * MINUTE}, "it came back"
        tx.specs.forget(CLICKS, 3)
        tx.specs.append(CLICKS, spec(), NOON + 2 * HOUR, "")
        assert tx.segments.last_published() == {}, "it was forgotten"
