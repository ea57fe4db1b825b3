"""The harness can fail: its proxy does what it says, its oracle sees a loss and a double."""

import random
import socket
import threading
from collections import Counter
from collections.abc import Iterator
from urllib.parse import urlsplit

import psycopg
import pytest

from tests.chaos.judges.measure import Faults, Reads
from tests.chaos.judges.oracle import judge
from tests.chaos.processes.producer import Ledger
from tests.chaos.processes.proxy import FaultProxy, Mode
from tests.chaos.runs.schedule import KILLS, Kind, schedule
from tests.waiting import wait_until

pytestmark = pytest.mark.chaos


@pytest.fixture
def echo() -> Iterator[tuple[str, int]]:
    """A server that says `ok:` and what it heard."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=answer, args=(client,), daemon=True).start()

    def answer(client: socket.socket) -> None:
        with client:
            while heard := client.recv(1000):
                client.sendall(b"ok:" + heard)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield ("127.0.0.1", listener.getsockname()[1])
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join(5)


def client(proxy: FaultProxy) -> socket.socket:
    """A connection through the proxy; it waits a second for an answer."""
    return socket.create_connection(("127.0.0.1", proxy.port), timeout=1)


def test_what_passes_passes_unchanged(echo: tuple[str, int]) -> None:
    """Goal: without a fault nobody notices the proxy."""
    with FaultProxy(echo) as proxy, client(proxy) as end:
        end.sendall(b"one")
        assert end.recv(100) == b"ok:one"


def test_a_cut_resets_connections_that_stand_and_new_ones(echo: tuple[str, int]) -> None:
    """Goal: both see an end, none hangs."""
    with FaultProxy(echo) as proxy, client(proxy) as end:
        end.sendall(b"one")
        assert end.recv(100) == b"ok:one"
        proxy.set(Mode.CUT)
        assert _ends(end)
        assert _refuses(proxy)


def _refuses(proxy: FaultProxy) -> bool:
    try:
        with client(proxy) as late:
            return _ends(late)
    except ConnectionError:
        return True  # the reset was faster than the connect


def _ends(end: socket.socket) -> bool:
    try:
        return end.recv(100) == b""
    except ConnectionError:
        return True


@pytest.mark.parametrize("mode", [Mode.HOLE, Mode.MUTE])
def test_a_hole_holds_what_is_sent_until_it_is_closed(echo: tuple[str, int], mode: Mode) -> None:
    """Goal: half-open, like a host that has stopped: no answer and no error."""
    with FaultProxy(echo) as proxy, client(proxy) as end:
        proxy.set(mode)
        end.sendall(b"one")
        with pytest.raises(TimeoutError):
            end.recv(100)
        proxy.set(Mode.PASS)
        assert end.recv(100) == b"ok:one"


def test_the_reply_to_a_commit_is_lost_after_the_server_has_heard_it(
    echo: tuple[str, int],
) -> None:
    """Goal: R7's fault: committed, and the client cannot know.  Other replies arrive."""
    with FaultProxy(echo) as proxy, client(proxy) as end:
        proxy.swallow_commits(1, b"publish")
        end.sendall(b"COMMIT")
        assert end.recv(100) == b"ok:COMMIT"  # nothing of a publish in it
        end.sendall(b"publish")
        assert end.recv(100) == b"ok:publish"
        end.sendall(b"COMMIT")
        assert _ends(end)
        wait_until(lambda: proxy.swallowed == 1)


@pytest.mark.pg
def test_postgresql_has_committed_what_the_client_did_not_hear(postgresql_database: str) -> None:
    """Goal: the fault is the real one: the row is there, the client saw its connection die."""
    at = urlsplit(postgresql_database)
    with (
        FaultProxy(("127.0.0.1", at.port or 0)) as proxy,
        psycopg.connect(postgresql_database, autocommit=True) as beside,
    ):
        beside.execute("CREATE TABLE told (what text)")
        through = at._replace(netloc=f"postgres@127.0.0.1:{proxy.port}").geturl()
        proxy.swallow_commits(1, b" rows in ")
        with pytest.raises(psycopg.OperationalError), psycopg.connect(through) as connection:
            connection.execute("INSERT INTO told VALUES (%s)", ("7 rows in 2 segments",))
        assert beside.execute("SELECT count(*) FROM told").fetchone() == (1,)
    assert proxy.swallowed == 1


@pytest.mark.parametrize(
    ("published", "owed", "lost", "duplicated"),
    [
        ({"a": 1, "b": 1}, {"a"}, 0, 0),
        ({"a": 1}, {"a"}, 1, 0),
        ({"a": 2, "b": 1}, {"a"}, 0, 1),
        ({"a": 2}, {"a"}, 1, 1),
        ({"a": 1, "b": 1, "stranger": 1}, {"a"}, 0, 1),
        ({"a": 1, "b": 1}, {"a", "never-seen"}, 1, 0),
    ],
)
def test_the_oracle_compares_identities_not_counts(
    published: dict[str, int], owed: set[str], lost: int, duplicated: int
) -> None:
    """Goal: one lost plus one doubled row is a finding, though the count is right."""
    found = judge(Counter({"a": 1, "b": 1}), Counter(published), owed)
    assert (found.lost, found.duplicated) == (lost, duplicated)


def test_a_seed_is_a_schedule() -> None:
    """Goal: the same seed, the same faults; none of the broker's wire if there is none."""
    one, same = schedule(7, 300, broker=True), schedule(7, 300, broker=True)
    assert one == same
    assert one != schedule(8, 300, broker=True)
    assert {fault.kind for fault in one} == set(Kind)
    assert not any(f.kind.startswith("broker") for f in schedule(7, 300, broker=False))
    assert sum(fault.kind in KILLS for fault in one) > 150


def test_recovery_is_the_time_to_the_next_publication() -> None:
    """Goal: a publication before the fault counts for nothing."""
    faults = Faults()
    faults.note("kill-leader", "o1")
    [fault] = faults.injected
    faults.published(fault.at - 1)
    assert fault.recovered_s is None
    faults.published(fault.at + 2)
    faults.published(fault.at + 9)
    assert fault.recovered_s == pytest.approx(2)


def test_progress_of_a_task_is_its_furthest_position() -> None:
    """Goal: what a replaced task had read is what is read again."""
    reads, chance = Reads(), random.Random(1)
    for at in sorted(chance.sample(range(100), 5)):
        task = {"id": "t", "startingOffsets": {"0": 0}, "currentOffsets": {"0": at}}
        reads.take({"activeTasks": [task]})
    reads.take({"activeTasks": []})
    assert reads.furthest == {"t": max(reads.furthest.values())}


def test_the_ledger_is_read_while_it_is_filled() -> None:
    """Found by a run that ended in "dictionary changed size during iteration"."""
    ledger = Ledger()

    def fill() -> None:
        for number in range(300_000):
            ledger.acknowledged.append((str(number), number % 4, number))

    filling = threading.Thread(target=fill)
    filling.start()
    while filling.is_alive():
        ledger.ends()
    filling.join()

    assert ledger.ends() == {n: 299_997 + n for n in range(4)}
