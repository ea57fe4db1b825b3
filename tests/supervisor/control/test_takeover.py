"""How soon another overlord leads, what the old one does then, and whom it names."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from supervisor.adapters.manual_clock import ManualClock
from supervisor.control.leadership import LOOKS_PER_TTL, Leadership
from supervisor.core.values.errors import LeaseLost
from supervisor.metadata.store import SqlStore
from supervisor.settings.settings import Settings
from tests.sqlite_memory import empty_file
from tests.supervisor.control.test_leadership import SECOND, TTL, BrokenStore, Candidate, one, two
from tests.supervisor.core.snapshots import NOON

__all__ = ["one", "two"]

YEARS = timedelta(days=3_000)
PROMISED = timedelta(seconds=10)


@pytest.fixture
def sql(tmp_path: Path) -> Iterator[SqlStore]:
    """A store that tells of refused writes."""
    store = SqlStore(f"sqlite:///{empty_file(tmp_path / 'one.db')}", lease_ttl=TTL)
    yield store
    store.close()


def test_a_takeover_does_not_depend_on_the_time_that_the_two_believe_it_is(
    one: Candidate,
) -> None:
    """Source: P2, F13."""
    others = [Candidate("other", one.store, ManualClock(NOON + apart)) for apart in (-YEARS, YEARS)]
    for other in others:
        other.is_.step()
        assert not other.waits(TTL - SECOND / 100).is_.leads()
        one.waits(SECOND)
        assert not other.waits(SECOND).is_.leads()

    assert not others[0].waits(SECOND).is_.leads()
    assert others[0].waits(TTL).is_.term() == 2


def test_a_follower_looks_often_enough_to_lead_ten_seconds_after_a_kill(
    one: Candidate, two: Candidate
) -> None:
    """Goal: at worst the last renewal is seen one look late, and the next look is in time."""
    one.waits(SECOND)  # renews just after the other has looked, and is killed
    waited = 0.0

    while not two.is_.leads():
        pause_s = two.is_._until_next_s()
        waited += pause_s
        two.waits(timedelta(seconds=pause_s))

    in_ttls = waited / TTL.total_seconds()
    assert in_ttls <= 1 + 1 / LOOKS_PER_TTL + 0.01
    assert in_ttls * Settings().lease_ttl < PROMISED - SECOND


def test_a_leader_that_may_not_act_any_more_is_not_named(one: Candidate, two: Candidate) -> None:
    """Goal: nobody is sent to a leader that is silent: it is gone, or will refuse (P2)."""
    assert two.is_.leader_url() == "http://one"

    two.waits(TTL * 2 / 3)

    assert two.is_.leader_url() is None
    with pytest.raises(LeaseLost) as lost:
        two.is_.term()
    assert lost.value.leader is None
    one.clock.advance(TTL * 2 / 3)
    assert one.is_.leader_url() is None


def test_a_deposed_leader_tells_once_and_knows_by_then_who_leads(
    one: Candidate, two: Candidate
) -> None:
    """Goal: long polls that end because of it name the right overlord to their workers."""
    urls: list[str | None] = []
    one.is_._on_lost = lambda: urls.append(one.is_.leader_url())
    two.waits(TTL)

    one.waits(SECOND)
    one.waits(SECOND)

    assert urls == ["http://two"]


def test_a_database_that_fails_in_between_does_not_keep_the_end_of_a_term_secret(
    one: Candidate, two: Candidate
) -> None:
    urls: list[str | None] = []
    one.is_._on_lost = lambda: urls.append(one.is_.leader_url())
    two.waits(TTL)
    one.is_.lost(1)

    one.store.down = True
    one.waits(SECOND)

    assert urls == [None]


def test_a_refused_write_is_counted_and_ends_the_term(sql: SqlStore) -> None:
    """Source: D2: `fenced_writes`."""
    clock = ManualClock(NOON)
    old = Leadership(sql, clock, holder="old", url="http://old", ttl=TTL)
    sql.on_fenced(old.lost)
    old.step()
    new = Candidate("new", BrokenStore(sql))
    new.is_.step()
    new.waits(TTL)
    assert old.term() == 1

    with pytest.raises(LeaseLost), sql.leading(old.term()) as tx:
        tx.offsets.of("never reached")

    assert old.fenced_writes == 1
    assert not old.leads()


def test_a_write_that_an_older_term_began_does_not_end_the_present_one(one: Candidate) -> None:
    """Goal: a pass that slept through two changes of leader deposes nobody."""
    one.is_.lost(0)

    assert one.is_.term() == 1
    assert one.is_.fenced_writes == 1
