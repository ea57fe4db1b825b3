"""Records by HTTP: in parts, an outcome for each, waits that are asked for, doors in their turn."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack

import pytest

from supervisor.dev.ports import LOOPBACK, free_port
from tasks.sending.doors import Doors
from tasks.sending.http_transport import RETRY_S_MAX, HttpTransport
from tasks.sending.transport import Outgoing, TransportAway
from tests.tasks.sending.doorways import Answer, Doorway, outcomes, refusal


def _batch(*bodies: bytes) -> list[Outgoing]:
    return [Outgoing("task-1", body) for body in bodies]


Open = Callable[..., HttpTransport]


@pytest.fixture
def transport_to() -> Iterator[Open]:
    """Make transports to doors, which are closed in the end."""
    with ExitStack() as stack:

        def transport(
            *doors: str, key: str | None = None, answers_within_s: float = 5.0
        ) -> HttpTransport:
            new = HttpTransport(
                lambda: doors, key, part_bytes=1_000, answers_within_s=answers_within_s
            )
            stack.callback(new.close)
            return new

        yield transport


def test_a_batch_goes_in_parts_by_one_connection_with_the_key(transport_to: Open) -> None:
    bodies = [b"%03d" % number * 30 for number in range(50)]
    with Doorway() as door:
        transport = transport_to(door.url, key="a-key")
        transport.send(_batch(*bodies))
        transport.send(_batch(b"x" * 5_000))
        transport.close()

    assert b"\n".join(door.bodies[:-1]).split(b"\n") == bodies
    assert max(map(len, door.bodies[:-1])) <= 1_000
    assert door.bodies[-1] == b"x" * 5_000, "a record that is larger goes alone"
    assert set(door.keys) == {"Bearer a-key"}
    assert len(door.connections) == 1


def test_each_outcome_that_is_done_counts_and_what_is_rejected_is_counted(
    transport_to: Open,
) -> None:
    answer = b'{"outcomes": ["stored", "conflict", "mismatch", "skipped", "rejected"]}'
    with Doorway(lambda _: (200, {}, answer)) as door:
        transport = transport_to(door.url)
        transport.send(_batch(*[b"1"] * 5))

    assert transport.refused_total == 1


@pytest.mark.parametrize(
    "answer",
    [b'{"outcomes": ["stored"]}', b'{"outcomes": ["stored", "deferred"]}', b"{}", b"<html>"],
    ids=["one is missing", "one is not done", "none", "no persister"],
)
def test_an_answer_without_an_outcome_for_each_counts_for_nothing(
    answer: bytes, transport_to: Open
) -> None:
    with Doorway(lambda _: (200, {}, answer)) as door:
        transport = transport_to(door.url)
        with pytest.raises(TransportAway):
            transport.send(_batch(b"1", b"2"))


@pytest.mark.parametrize(
    ("status", "retry_after", "waits_s"),
    [(429, "1", 1.0), (503, "5", 5.0), (503, "99999", RETRY_S_MAX), (503, "soon", 0.0)],
)
def test_a_door_that_is_busy_says_when_to_come_again(
    status: int, retry_after: str, waits_s: float, transport_to: Open
) -> None:
    with Doorway(lambda _: refusal(status, "paused by an operator", retry_after)) as door:
        transport = transport_to(door.url)
        with pytest.raises(TransportAway, match=f"{status} paused by an operator") as caught:
            transport.send(_batch(b"1"))

    assert caught.value.retry_s == waits_s


def test_the_next_door_is_tried_and_the_one_that_answered_stays_the_first(
    transport_to: Open,
) -> None:
    with Doorway(lambda _: refusal(503, "stopped", "5")) as closed, Doorway() as opened:
        transport = transport_to(f"http://{LOOPBACK}:{free_port()}", closed.url, opened.url)
        transport.send(_batch(b"1"))
        transport.send(_batch(b"2"))

    assert (closed.bodies, opened.bodies) == ([b"1"], [b"1", b"2"])


def test_a_body_that_is_too_large_for_a_proxy_goes_in_halves(transport_to: Open) -> None:
    def small(body: bytes) -> Answer:
        return outcomes(body) if len(body) <= 10 else refusal(413, "too large")

    with Doorway(small) as door:
        transport = transport_to(door.url)
        transport.send(_batch(b"1", b"22", b"333", b"4" * 20, b"55555"))

    taken = [body for body in door.bodies if len(body) <= 10]
    assert b"\n".join(taken).split(b"\n") == [b"1", b"22", b"333", b"55555"]
    assert transport.refused_total == 1


@pytest.mark.parametrize(
    ("status", "advice"),
    [(401, "TIDEGATE_REPORTS_KEY_FILE"), (404, "TIDEGATE_REPORTS_PERSISTER"), (500, "a bug")],
)
def test_a_door_that_does_not_open_is_named_with_what_to_check(
    status: int, advice: str, transport_to: Open
) -> None:
    with Doorway(lambda _: refusal(status, "a bug")) as door:
        transport = transport_to(door.url)
        with pytest.raises(TransportAway, match=advice) as caught:
            transport.send(_batch(b"1"))

    assert door.url in str(caught.value)


def test_an_answer_that_never_ends_is_given_up(transport_to: Open) -> None:
    with Doorway(drips=True) as door:
        transport = transport_to(door.url, answers_within_s=0.2)
        with pytest.raises(TransportAway, match="not complete within"):
            transport.send(_batch(b"1"))


def test_without_an_address_nothing_is_sent_and_the_setting_is_named(transport_to: Open) -> None:
    with pytest.raises(TransportAway, match="TIDEGATE_REPORTS_PERSISTER"):
        transport_to().send(_batch(b"1"))


def test_addresses_of_its_own_win_and_the_last_ones_heard_stay() -> None:
    known: list[Sequence[str]] = []
    doors, own = Doors(), Doors(["http://own:1"])
    doors.when_known(lambda: known.append(doors.addresses))
    own.when_known(lambda: known.append(own.addresses))
    doors.hear([])
    doors.hear(["http://a:1"])
    doors.hear(["http://b:1"])
    doors.hear([])
    own.hear(["http://a:1"])

    assert known == [("http://own:1",), ("http://a:1",)]
    assert (doors.addresses, own.addresses) == (("http://b:1",), ("http://own:1",))
