"""A worker hears of persisters by a header of the answers to its syncs."""

from collections.abc import Sequence

from tasks.contract.report_doors import DOORS_HEADER
from tasks.worker.overlord_client import HttpOverlord
from tests.tasks.worker.test_overlord_http import ANSWER, SYNC, Server, servers

__all__ = ["servers"]


def test_an_answer_may_name_persisters_and_one_without_the_header_says_nothing(
    servers: list[Server],
) -> None:
    server, heard = servers[0], list[Sequence[str]]()
    with HttpOverlord([server.url], hear_doors=heard.append) as overlord:
        assert overlord.sync(SYNC) == ANSWER
        server.headers = {DOORS_HEADER: "http://a:8092, no address"}
        assert overlord.sync(SYNC) == ANSWER
        server.headers = {}
        assert overlord.sync(SYNC) == ANSWER

    assert heard == [("http://a:8092",)]
