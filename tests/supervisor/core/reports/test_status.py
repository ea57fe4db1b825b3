"""The persister's states: it heals by itself, gives up once, and goes on when it is resumed."""

import pytest

from supervisor.core.reports.status import BackOff, PersisterState, PersisterStatus, StoreOutcome

BACK_OFF = BackOff(tries_max=3)


def _failing(times: int, outcome: StoreOutcome = StoreOutcome.DEFERRED) -> PersisterStatus:
    service = PersisterStatus().ready()
    for _ in range(times):
        service = service.failed(outcome, "connection refused", BACK_OFF)
    return service


def test_a_store_that_comes_back_in_time_needs_nobody() -> None:
    away = _failing(2)
    assert (away.state, away.tries) == (PersisterState.BACKING_OFF, 2)
    assert away.state.answers_ping

    assert away.succeeded() == PersisterStatus(PersisterState.RUNNING)


def test_too_many_tries_in_a_row_stop_it_until_it_is_resumed() -> None:
    stopped = _failing(3)
    assert stopped.state is PersisterState.STOPPED
    assert stopped.reason == "connection refused"
    assert not stopped.state.answers_ping
    assert stopped.failed(StoreOutcome.DEFERRED, "again", BACK_OFF) == stopped
    assert stopped.succeeded().state is PersisterState.STOPPED

    assert stopped.ready() == PersisterStatus(PersisterState.RUNNING)


def test_a_wrong_password_stops_it_at_once() -> None:
    assert _failing(1, StoreOutcome.FATAL).state is PersisterState.STOPPED


@pytest.mark.parametrize(
    "before", [PersisterStatus(), PersisterStatus().ready(), _failing(1), _failing(3)]
)
def test_what_drains_does_not_go_back(before: PersisterStatus) -> None:
    draining = before.drained()
    assert draining.state is PersisterState.DRAINING

    for after in (
        draining.ready(),
        draining.succeeded(),
        draining.drained(),
        draining.failed(StoreOutcome.FATAL, "no schema", BACK_OFF),
    ):
        assert after.state is PersisterState.DRAINING
    assert draining.ended().ready().state is PersisterState.TERMINATED
    assert draining.ended().drained().state is PersisterState.TERMINATED


def test_waits_double_up_to_their_bound() -> None:
    waits = [BackOff().wait_s(tries, 0.0) for tries in (1, 2, 3, 4, 5, 10_000)]

    assert waits == [3.0, 6.0, 12.0, 24.0, 30.0, 30.0]
    assert BackOff().wait_s(1, 1.0) == pytest.approx(3.6)
    assert BackOff().wait_s(9, 1.0) == 30.0


def test_what_is_done_may_be_committed_and_nothing_else() -> None:
    done = {outcome for outcome in StoreOutcome if outcome.is_done}

    assert done == {
        StoreOutcome.STORED,
        StoreOutcome.CONFLICT,
        StoreOutcome.MISMATCH,
        StoreOutcome.SKIPPED,
    }
