"""The client of persisters' dead letters, against a server: token, refusals, silence."""

import pytest

from supervisor.adapters.letter_desks_http import HttpLetterDesks
from supervisor.ports.reports.letter_desks import (
    DeskRefuses,
    DeskSilent,
    LetterCall,
    LetterMethod,
)
from tests.supervisor.cli.overlord import Reply
from tests.supervisor.cli.overlord import overlord as a_server

_DROP = LetterCall(LetterMethod.DELETE, "/0/9", {"by": "ada"})


def test_a_call_is_sent_with_the_token_and_its_refusal_says_why() -> None:
    desks = HttpLetterDesks("a-token-for-tests")
    with a_server() as server:
        server.on("DELETE", "/dead-letters/0/9", Reply({"partition": 0}))
        server.on("GET", "/dead-letters", Reply({"detail": "paused"}, 503))
        assert desks.call(server.url, _DROP) == b'{"partition": 0}'
        with pytest.raises(DeskRefuses, match="paused") as refused:
            desks.call(server.url, LetterCall(LetterMethod.GET))
        [sent, _] = server.requests
    assert refused.value.status == 503
    assert sent.query == {"by": ["ada"]}
    assert sent.headers["authorization"] == "Bearer a-token-for-tests"


def test_nobody_who_listens_is_silence() -> None:
    with pytest.raises(DeskSilent):
        HttpLetterDesks(None).call("http://127.0.0.1:1", _DROP)
