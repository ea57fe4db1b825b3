"""The watch over persisters: asked by HTTP within bounds, remembered with the start of a state."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from supervisor.adapters.manual_clock import ManualClock
from supervisor.adapters.persister_http import HttpPersisters
from supervisor.core.attention.reports import WatchedPersister
from supervisor.ports.reports.persisters import PersisterSilent
from supervisor.reports.watch import PersisterWatch
from tests.supervisor.cli.cluster.test_reports import STATUS
from tests.supervisor.cli.overlord import Overlord, Reply, overlord

_NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)


@pytest.fixture
def persister() -> Iterator[Overlord]:
    """A server in a persister's place."""
    with overlord() as running:
        yield running


def test_a_state_is_remembered_with_its_begin(persister: Overlord) -> None:
    stopped = STATUS | {"state": "STOPPED", "reason": "paused"}
    persister.on("GET", "/status", Reply(STATUS), Reply(STATUS), Reply(stopped))
    clock = ManualClock(_NOON)
    watch = PersisterWatch(clock, HttpPersisters(), [persister.url])
    assert watch.last() == []
    states: list[WatchedPersister] = []
    for _ in range(3):
        watch.run_once()
        states += watch.last()
        clock.advance(timedelta(seconds=10))

    assert [each.state for each in states] == ["RUNNING", "RUNNING", "STOPPED"]
    begins = [_NOON, _NOON, _NOON + timedelta(seconds=20)]
    assert [each.since for each in states] == begins
    assert (states[0].lag, states[0].lag_seconds) == (
        {"completed.default": 40},
        {"completed.default": 75.0},
    )
    assert (states[0].stored, states[0].dead_letters) == (12, 2)
    watch.forget()
    assert watch.last() == []


def test_one_that_does_not_answer_is_remembered_as_silent(persister: Overlord) -> None:
    persister.on("GET", "/status", Reply(STATUS))
    watch = PersisterWatch(
        ManualClock(_NOON), HttpPersisters(), ["http://127.0.0.1:1", persister.url]
    )
    watch.run_once()

    silent, well = watch.last()

    assert (silent.state, well.state) == (None, "RUNNING")
    assert silent.reason


@pytest.mark.parametrize(
    "reply",
    [
        Reply({"state": 3}),
        Reply("hello", content_type="text/html"),
        Reply(STATUS, status=503),
        Reply({"state": "RUNNING", "reason": "x" * 2_000_000}),
    ],
    ids=["another form", "no JSON", "an error", "too large"],
)
def test_what_is_no_answer_of_a_persister_is_silence(persister: Overlord, reply: Reply) -> None:
    persister.on("GET", "/status", reply)
    with pytest.raises(PersisterSilent):
        HttpPersisters().status(persister.url)
