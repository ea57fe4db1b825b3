"""States and lag of supervisors."""

from datetime import timedelta

from supervisor.core.history.lag import Lag
from supervisor.ports.state_history import StoredState
from tests.conformance.stories import CLICKS, HOUR, MINUTE, NOON, Leader

RUNNING = StoredState("RUNNING", "RUNNING", "", NOON)
SUSPENDED = StoredState("SUSPENDED", "SUSPENDED", "asked for", NOON + HOUR)
SECOND = timedelta(seconds=1)


def test_the_last_state_counts(leader: Leader) -> None:
    for state in (RUNNING, SUSPENDED):
        with leader.writes() as tx:
            tx.watched.put_state(CLICKS, state)
        with leader.reads() as tx:
            assert tx.watched.state(CLICKS) == state
            assert tx.watched.state("other") is None


def test_samples_come_by_time_and_old_ones_go(leader: Leader) -> None:
    for number in range(5):
        with leader.writes() as tx:
            at = NOON + number * MINUTE
            lag = {CLICKS: Lag(number, number * SECOND), "other": Lag(None, None)}
            tx.watched.add_lag(at, lag, at - 3 * MINUTE)
    with leader.reads() as tx:
        assert tx.watched.lag(CLICKS, NOON, NOON + 4 * MINUTE) == [
            (NOON + number * MINUTE, Lag(number, number * SECOND)) for number in (1, 2, 3)
        ]
        assert tx.watched.lag("other", NOON + 4 * MINUTE, NOON + HOUR) == [
            (NOON + 4 * MINUTE, Lag(None, None))
        ]


def test_a_forgotten_supervisor_leaves_nothing(leader: Leader) -> None:
    with leader.writes() as tx:
        for who in (CLICKS, "other"):
            tx.watched.put_state(who, RUNNING)
        tx.watched.add_lag(NOON, {CLICKS: Lag(1, None), "other": Lag(2, None)}, NOON)
    with leader.writes() as tx:
        tx.watched.forget(CLICKS)
    with leader.reads() as tx:
        assert (tx.watched.state(CLICKS), tx.watched.lag(CLICKS, NOON, NOON + HOUR)) == (None, [])
        assert tx.watched.state("other") == RUNNING
        assert len(tx.watched.lag("other", NOON, NOON + HOUR)) == 1
