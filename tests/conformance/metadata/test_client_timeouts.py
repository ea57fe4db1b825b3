"""A PostgreSQL that says nothing is not waited for: what only the client's own clock can end.

Source: F1, F7, R11.
"""

import socket
import time
from collections.abc import Iterator
from datetime import timedelta

import pytest

from supervisor.core.values.errors import MetadataUnavailable
from supervisor.database.client_timeouts import TRY_EVERY_S, CircuitBreaker
from supervisor.metadata.store import SqlStore

TTL = timedelta(seconds=3)


class Watch:
    """A clock that the test moves."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def _may_ask(silence: CircuitBreaker) -> bool:
    try:
        silence.require_closed()
    except MetadataUnavailable:
        return False
    return True


def test_after_a_silence_one_caller_a_second_tries_and_an_answer_lets_all_in() -> None:
    watch = Watch()
    silence = CircuitBreaker(watch)
    assert all(_may_ask(silence) for _ in range(3))

    silence.trip()
    assert not any(_may_ask(silence) for _ in range(3))
    watch.now += TRY_EVERY_S
    assert [_may_ask(silence) for _ in range(3)] == [True, False, False]

    silence.reset()
    assert all(_may_ask(silence) for _ in range(3))


@pytest.fixture
def silent() -> Iterator[str]:
    """The URL of a server that takes connections and never says a word."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(16)
        yield f"postgresql://postgres@127.0.0.1:{listening.getsockname()[1]}/nothing"


@pytest.mark.pg
def test_a_server_that_takes_connections_and_is_silent_is_unavailable(silent: str) -> None:
    """Goal: an error of ours, so that it is a 503 and no bug; within the bound for connecting."""
    store = SqlStore(silent, lease_ttl=TTL)
    began = time.monotonic()

    with pytest.raises(MetadataUnavailable), store.reading():
        pass

    assert time.monotonic() - began < 2 * TTL.total_seconds()
    store.close()
