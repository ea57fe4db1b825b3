"""Changes on an overlord that does not lead: which are passed on, and what becomes of answers.

Source: D5, D6: a change without a key is never carried out twice, because it is never passed on.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlencode

import httpx
import pytest

from supervisor.api.http.console import HEADER as CONSOLE
from supervisor.api.http.leader import PASSED_ON
from supervisor.core.values.json_bodies import SIZE_BYTES_MAX
from supervisor.core.values.permissions import Role
from supervisor.ports.store import Transaction
from tests.supervisor.api.browser import COOKIE, add_alice, alices
from tests.supervisor.api.guarded import a_guarded_world, bearer, grants_of
from tests.supervisor.api.world import SUPERVISORS, URL, World, a_world, spec_document
from tests.supervisor.cli.overlord import Overlord, Reply, Request, overlord

KEY = {"Idempotency-Key": "of-this-change"}
SUSPEND = f"{SUPERVISORS}/clicks/suspend"
_OF_THE_CONNECTION = {"host", "connection", "content-length", "accept-encoding"}


@dataclass(frozen=True)
class Pair:
    """An overlord that follows, and the leader's address with prepared answers."""

    follower: World
    leader: Overlord

    def post(
        self, path: str, body: object = None, headers: dict[str, str] | None = None
    ) -> httpx.Response:
        """Send a change to the follower, with a key."""
        sent: httpx.Response = self.follower.client.post(
            path, json=body, headers=KEY | (headers or {}), follow_redirects=False
        )
        return sent


@pytest.fixture
def pair(follower: World) -> Iterator[Pair]:
    """The lease names the leader."""
    with overlord() as leader:
        follow(follower, leader)
        yield Pair(follower, leader)


def follow(world: World, leader: Overlord) -> None:
    """Let the lease name another overlord."""
    with world.store.writing() as tx:
        assert tx.lease.take(tx.lease.read(), "two", leader.url)
    world.leadership.step()


class Wire:
    """Gives what arrives at an overlord's address to that overlord, and may lose its answer."""

    def __init__(self, at: Overlord, world: World) -> None:
        """Let the world's overlord be found at this address."""
        self.loses_answers = False
        self._world = world
        at.ask = self._ask
        world.leadership._url = at.url

    def _ask(self, request: Request) -> Reply:
        path = request.path + (f"?{urlencode(request.query, doseq=True)}" if request.query else "")
        headers = {k: v for k, v in request.headers.items() if k not in _OF_THE_CONNECTION}
        heard = self._world.client.request(
            request.method, path, content=request.body, headers=headers, follow_redirects=False
        )
        if self.loses_answers:
            raise ConnectionAbortedError("the answer is lost")
        kept = {k: v for k, v in heard.headers.items() if k == "idempotency-replayed"}
        return Reply(heard.json(), heard.status_code, heard.headers["content-type"], kept)


@dataclass(frozen=True)
class Two:
    """Two overlords on one database; the first one leads."""

    one: World
    two: World
    wire: Wire

    def apply(self, world: World, task_count: int = 1) -> httpx.Response:
        """Send the same change, with the same key, to one of them."""
        body = spec_document(task_count=task_count)
        sent: httpx.Response = world.client.post(
            SUPERVISORS, json=body, headers=KEY, follow_redirects=False
        )
        return sent

    def history(self) -> list[dict[str, object]]:
        """Every change of the supervisor that is on record."""
        return self.one.get_rows(f"{SUPERVISORS}/clicks/history")


@pytest.fixture
def both(tmp_path: Path, migrated: Path) -> Iterator[Two]:
    """Real overlords; what one passes on goes through a socket to the other."""
    folders = [tmp_path / name for name in ("one", "two")]
    for folder in folders:
        folder.mkdir()
    database = f"sqlite:///{folders[0] / 'metadata.db'}"
    with (
        a_world(folders[0], migrated, leads=False) as one,
        a_world(folders[1], migrated, leads=False, url=database) as two,
        overlord() as at_one,
        overlord() as at_two,
    ):
        wire = Wire(at_one, one)
        Wire(at_two, two)
        one.leadership.step()
        two.leadership.step()
        yield Two(one, two, wire)


def test_a_change_with_a_key_is_passed_on_whole_and_its_answer_returned(pair: Pair) -> None:
    shown = {"ETag": '"2-0123456789abcdef"', "Tidegate-Operation": "op_7", "X-Other": "x"}
    pair.leader.on("POST", SUPERVISORS, Reply({"id": "clicks"}, 200, headers=shown))
    document = spec_document()

    answer = pair.post(
        f"{SUPERVISORS}?a=b%20c",
        document,
        {"If-Match": '"1-0123456789abcdef"', "X-Druid-Author": "ada", "X-Request-Id": "mine"},
    )

    assert (answer.status_code, answer.json()) == (200, {"id": "clicks"})
    assert answer.headers["etag"] == shown["ETag"]
    assert answer.headers["tidegate-operation"] == "op_7"
    assert "x-other" not in answer.headers
    (request,) = pair.leader.requests
    assert json.loads(request.body) == document
    assert request.query == {"a": ["b c"]}
    sent = {name: request.headers.get(name) for name in ("idempotency-key", "if-match")}
    assert sent == {"idempotency-key": "of-this-change", "if-match": '"1-0123456789abcdef"'}
    assert request.headers["x-druid-author"] == "ada"
    assert request.headers["x-request-id"] == "mine"
    assert request.headers[PASSED_ON.lower()] == "1"


def test_a_change_without_a_body_is_passed_on_without_one(pair: Pair) -> None:
    pair.leader.on("POST", SUSPEND, Reply({"id": "clicks"}))

    assert pair.post(SUSPEND).status_code == 200
    (request,) = pair.leader.requests
    assert request.body == b""
    assert request.content_type is None


def test_the_leaders_refusal_is_the_answer(pair: Pair) -> None:
    pair.leader.refuse("POST", SUSPEND, 409, title="It is not", detail="because")

    answer = pair.post(SUSPEND)

    assert (answer.status_code, answer.json()["detail"]) == (409, "because")
    assert answer.headers["content-type"] == "application/problem+json"


def test_a_repeat_is_passed_on_as_well_and_says_that_it_is_one(pair: Pair) -> None:
    """Goal: the follower keeps no answers: the key's row is the leader's."""
    again = {"Idempotency-Replayed": "true"}
    pair.leader.on("POST", SUSPEND, Reply({"n": 1}), Reply({"n": 1}, headers=again))

    first, second = pair.post(SUSPEND), pair.post(SUSPEND)

    assert "idempotency-replayed" not in first.headers
    assert second.headers["idempotency-replayed"] == "true"
    assert len(pair.leader.requests) == 2


def test_a_dry_run_and_a_repeatable_request_with_a_key_are_passed_on(pair: Pair) -> None:
    """Goal: the console sends a key with each POST, and a sample needs the leader."""
    path = "/druid/indexer/v1/sampler"
    pair.leader.on("POST", path, Reply({"numRowsRead": 0}))
    body = {"type": "kafka", "spec": spec_document(), "samplerConfig": {"timeoutMs": 1}}

    answer = pair.post(path, body)

    assert (answer.status_code, answer.json()) == (200, {"numRowsRead": 0})
    assert json.loads(pair.leader.requests[0].body) == body


def test_a_leader_that_is_away_is_a_503_that_may_be_sent_again(follower: World) -> None:
    away = Overlord("http://127.0.0.1:1")
    follow(follower, away)

    answer = Pair(follower, away).post(SUSPEND)

    assert (answer.status_code, answer.json()["type"]) == (503, "/problems/not-the-leader")
    assert answer.json()["leader"] == away.url
    assert answer.headers["retry-after"] == "1"


def test_a_change_whose_answer_is_lost_is_sent_again_and_acts_once(both: Two) -> None:
    """Goal: whoever repeats a change with its key gets the first answer, by whichever way."""
    both.wire.loses_answers = True
    lost = both.apply(both.two)
    both.wire.loses_answers = False

    through_the_follower, directly = both.apply(both.two), both.apply(both.one)

    assert (lost.status_code, lost.json()["type"]) == (503, "/problems/not-the-leader")
    assert lost.headers["retry-after"] == "1"
    for again in (through_the_follower, directly):
        assert (again.status_code, again.json()["version"]) == (200, 1)
        assert again.headers["idempotency-replayed"] == "true"
    assert len(both.history()) == 1


def test_a_key_that_another_body_has_used_is_refused_by_the_leader(both: Two) -> None:
    assert both.apply(both.one).status_code == 200

    other = both.apply(both.two, task_count=2)

    assert (other.status_code, other.json()["type"]) == (422, "/problems/idempotency-key-reused")
    assert len(both.history()) == 1


def test_a_change_acts_once_across_a_change_of_the_leader(both: Two) -> None:
    first = both.apply(both.two)
    both.one.leadership.stop()
    both.two.leadership.step()
    both.one.leadership.step()

    at_the_new_leader, through_the_old_one = both.apply(both.two), both.apply(both.one)

    assert both.two.leadership.leads()
    assert not both.one.leadership.leads()
    assert "idempotency-replayed" not in first.headers
    for again in (at_the_new_leader, through_the_old_one):
        assert (again.status_code, again.json()) == (200, first.json())
        assert again.headers["idempotency-replayed"] == "true"
    assert len(both.history()) == 1


def test_a_key_that_was_claimed_here_is_not_passed_on(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: a leader that is deposed between its claim and its act stores no answer of another."""
    leading = world.store.leading
    with overlord() as leader:

        @contextmanager
        def deposed(term: int) -> Iterator[Transaction]:
            with leading(term) as tx:
                yield tx
            monkeypatch.setattr(world.store, "leading", leading)
            follow(world, leader)

        monkeypatch.setattr(world.store, "leading", deposed)
        answer = world.client.post(
            SUPERVISORS, json=spec_document(), headers=KEY, follow_redirects=False
        )

    assert answer.status_code == 307
    assert answer.headers["location"] == f"{leader.url}{SUPERVISORS}"
    assert leader.requests == []


def test_a_path_is_passed_on_as_it_was_sent(pair: Pair) -> None:
    """Goal: no sign of an id ends the path, or adds a header to a redirect."""
    path = f"{SUPERVISORS}/a%3Fb%25%0D%0AX-Y:%20z/suspend"
    pair.leader.on("POST", unquote(path), Reply({"passed": "on"}))

    with_key = pair.post(path)
    redirected = pair.follower.client.post(path, follow_redirects=False)

    assert with_key.json() == {"passed": "on"}
    assert redirected.headers["location"] == f"{pair.leader.url}{path}"


def test_a_body_that_is_too_large_is_refused_before_it_is_passed_on(pair: Pair) -> None:
    answer = pair.post(SUPERVISORS, {"a": "x" * SIZE_BYTES_MAX})

    assert answer.status_code == 413
    assert pair.leader.requests == []


def test_nothing_is_passed_on_twice(pair: Pair) -> None:
    """Goal: two overlords that take each other for the leader do not ask in a circle."""
    answer = pair.post(SUSPEND, headers={PASSED_ON: "1"})

    assert (answer.status_code, answer.json()["leader"]) == (503, pair.leader.url)
    assert pair.leader.requests == []


def test_without_a_key_a_program_is_redirected_and_the_console_hears_who_leads(
    pair: Pair,
) -> None:
    program = pair.follower.client.post(SUSPEND, follow_redirects=False)
    console = pair.follower.client.post(
        SUSPEND, headers={CONSOLE: "1", "Origin": URL}, follow_redirects=False
    )

    assert program.status_code == 307
    assert program.headers["location"] == f"{pair.leader.url}{SUSPEND}"
    assert (console.status_code, console.json()["type"]) == (503, "/problems/not-the-leader")
    assert console.json()["leader"] == pair.leader.url
    assert pair.leader.requests == []


def test_a_caller_that_is_not_known_here_is_not_passed_on(tmp_path: Path, migrated: Path) -> None:
    with a_guarded_world(tmp_path, migrated, leads=False) as guarded, overlord() as leader:
        follow(guarded.world, leader)
        token = guarded.token("ci", *grants_of(Role.ADMIN, "*"))
        leader.on("POST", SUSPEND, Reply({"id": "clicks"}))
        pair = Pair(guarded.world, leader)

        unknown = pair.post(SUSPEND, headers=bearer("tdg_wrong"))
        known = pair.post(SUSPEND, headers=bearer(token))

    assert (unknown.status_code, known.status_code) == (401, 200)
    assert [request.authorization for request in leader.requests] == [f"Bearer {token}"]


def test_the_console_acts_through_a_follower(tmp_path: Path, migrated: Path) -> None:
    with a_guarded_world(tmp_path, migrated, leads=False) as guarded, overlord() as leader:
        add_alice(guarded)
        follow(guarded.world, leader)
        leader.on("POST", SUSPEND, Reply({"id": "clicks"}))
        browser = alices(guarded)

        acted = browser.ask("POST", SUSPEND, **KEY)
        foreign = browser.ask("POST", SUSPEND, **KEY, Origin="https://evil.example")

    assert (acted.status_code, foreign.status_code) == (200, 403)
    (request,) = leader.requests
    assert request.headers["cookie"] == f"{COOKIE}={browser.secret}"
    assert request.headers["origin"] == leader.url
    assert request.headers[CONSOLE.lower()] == "1"
