"""States and lag of supervisors."""

from datetime import timedelta

from supervisor.core.history.lag import Lag, stepped
from supervisor.ports.state_history import StoredState
from tests.conformance.stories import CLICKS, HOUR, MINUTE, NOON, Leader
from tests.supervisor.core.snapshots import spec

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


def test_the_worst_of_each_step_is_read_of_several_supervisors_at_once(leader: Leader) -> None:
    """Goal: the SQL has the steps of the pure function, whatever the fractions of a second."""
    at = [NOON + n * MINUTE + timedelta(microseconds=999_999 if n % 2 else 1) for n in range(9)]
    lags = [Lag(None if n == 4 else n * 7 % 5, None if n < 3 else n * SECOND) for n in range(9)]
    for moment, lag in zip(at, lags, strict=True):
        with leader.writes() as tx:
            found = {CLICKS: lag, "other": Lag(1, None), "not asked for": lag}
            tx.watched.add_lag(moment, found, NOON - HOUR)
    for step in (2 * MINUTE, 3 * MINUTE, 7 * MINUTE, HOUR):
        with leader.reads() as tx:
            found_steps = tx.watched.lag_stepped([CLICKS, "other", "never"], at[0], at[8], step)
        assert found_steps.keys() == {CLICKS, "other"}
        samples = list(zip(at[:8], lags[:8], strict=True))
        assert found_steps[CLICKS] == stepped(samples, step)
        assert {each for _, each in found_steps["other"]} == {Lag(1, None)}
    with leader.reads() as tx:
        assert tx.watched.lag_stepped([CLICKS], NOON - HOUR, NOON, MINUTE) == {}
        assert tx.watched.lag_stepped([], NOON, NOON + HOUR, MINUTE) == {}


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


def test_states_are_those_of_supervisors_that_are_not_terminated(leader: Leader) -> None:
    """Goal: a list of all costs what the live ones cost, not what ever was."""
    with leader.writes() as tx:
        for who in (CLICKS, "rests", "ended", "stateless"):
            tx.specs.append(who, spec(), NOON, "")
            if who != "stateless":
                tx.watched.put_state(who, RUNNING)
        tx.specs.append(CLICKS, spec(), NOON, "")
        tx.specs.append("ended", None, NOON, "")
        tx.watched.put_state("forgotten", RUNNING)
        assert tx.specs.rest("rests", 1, NOON)
    with leader.reads() as tx:
        assert tx.watched.states() == {CLICKS: RUNNING, "rests": RUNNING}


def test_the_lag_about_a_time_is_of_one_moment(leader: Leader) -> None:
    for number in range(4):
        with leader.writes() as tx:
            lag = {CLICKS: Lag(number, number * SECOND)} | ({"b": Lag(7, None)} if number else {})
            tx.watched.add_lag(NOON + number * MINUTE, lag, NOON - HOUR)
    with leader.reads() as tx:
        about = tx.watched.lag_about
        assert about(NOON - HOUR, NOON) == {CLICKS: Lag(0, 0 * SECOND)}
        newest = {CLICKS: Lag(2, 2 * SECOND), "b": Lag(7, None)}
        assert about(NOON, NOON + 2 * MINUTE + SECOND) == newest
        assert about(NOON + 3 * MINUTE, NOON + HOUR) == {}, "its beginning is not part of it"
