"""Short answers to syncs, as the worker's client reads them."""

import json

import pytest

from tasks.contract.messages import KNOWN_TERM_HEADER, Unchanged
from tasks.ports import OverlordUnavailable
from tasks.worker.overlord_client import HttpOverlord
from tests.tasks.worker.test_overlord_http import ANSWER, SYNC, Server, servers

__all__ = ["servers"]

KNOWING = SYNC.model_copy(update={"known": ANSWER.revision})
SHORT = Unchanged(unchanged=True, term=ANSWER.term, revision=ANSWER.revision)


def _known_term(server: Server) -> str | None:
    return server.requests[-1][1].get(KNOWN_TERM_HEADER)


def test_a_short_answer_stands_for_the_one_that_the_worker_has(servers: list[Server]) -> None:
    server = servers[0]
    with HttpOverlord([server.url]) as overlord:
        assert overlord.sync(SYNC) == ANSWER
        assert _known_term(server) is None, "it has none yet"
        server.body = SHORT.to_json().encode()

        assert overlord.sync(KNOWING) == ANSWER

    assert _known_term(server) == str(ANSWER.term)


def test_an_overlord_of_an_earlier_release_answers_whole_each_time(servers: list[Server]) -> None:
    """Goal: it ignores the header, and would refuse a field that it does not know."""
    server = servers[0]
    with HttpOverlord([server.url]) as overlord:
        answers = [overlord.sync(each) for each in (SYNC, KNOWING, KNOWING)]

    assert answers == [ANSWER] * 3
    assert set(json.loads(server.requests[-1][2])) == set(json.loads(server.requests[0][2]))


@pytest.mark.parametrize(
    "other", [{"term": 4}, {"revision": "3-2"}], ids=["another term", "another revision"]
)
def test_a_short_answer_that_stands_for_another_is_none(
    servers: list[Server], other: dict[str, object]
) -> None:
    server = servers[0]
    with HttpOverlord([server.url]) as overlord:
        overlord.sync(SYNC)
        server.body = SHORT.model_copy(update=other).to_json().encode()

        with pytest.raises(OverlordUnavailable, match="no SyncResponse"):
            overlord.sync(KNOWING)


def test_a_short_answer_that_nobody_can_use_is_none(servers: list[Server]) -> None:
    """Goal: a worker that has started again has acted on nothing."""
    servers[0].body = SHORT.to_json().encode()
    with HttpOverlord([servers[0].url]) as overlord, pytest.raises(OverlordUnavailable):
        overlord.sync(KNOWING)


def test_the_newest_answer_with_a_revision_counts(servers: list[Server]) -> None:
    """Goal: a new leader gives the same revision with orders of its own term."""
    server = servers[0]
    with HttpOverlord([server.url]) as overlord:
        overlord.sync(SYNC)
        newer = ANSWER.model_copy(update={"term": ANSWER.term + 1})
        server.body = newer.to_json().encode()
        assert overlord.sync(KNOWING) == newer
        server.body = SHORT.model_copy(update={"term": newer.term}).to_json().encode()

        assert overlord.sync(KNOWING) == newer

    assert _known_term(server) == str(newer.term)


def test_an_answer_that_many_have_followed_is_forgotten(servers: list[Server]) -> None:
    server = servers[0]
    with HttpOverlord([server.url]) as overlord:
        overlord.sync(SYNC)
        for number in range(10):
            newer = ANSWER.model_copy(update={"revision": f"newer {number}"})
            server.body = newer.to_json().encode()
            overlord.sync(SYNC)
        overlord.sync(KNOWING)

    assert _known_term(server) is None
    assert len(overlord._answers) <= 4
