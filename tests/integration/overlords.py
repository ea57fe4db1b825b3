"""Overlords of real processes over one metadata database; no worker, no broker, no JVM."""

import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Self

import httpx

from supervisor.dev.ports import LOOPBACK, free_port
from supervisor.dev.processes import Child, ChildSpec
from supervisor.metadata.store import SqlStore
from tests.environment.frozen import freeze
from tests.waiting import HANGS_AFTER_S, wait_until

SUPERVISORS = "/druid/indexer/v1/supervisor"
START_WITHIN_S = HANGS_AFTER_S


@dataclass
class Overlord:
    """One process, and a client that follows no redirects."""

    name: str
    port: int
    child: Child
    http: httpx.Client

    @property
    def url(self) -> str:
        """Its address, as the lease names it."""
        return f"http://{LOOPBACK}:{self.port}"

    def serves(self) -> bool:
        """Whether it answers at all; where callers are asked, it asks who we are."""
        return self._status("/status") in {httpx.codes.OK, httpx.codes.UNAUTHORIZED}

    def leads(self, token: str = "") -> bool:
        """Whether it says that it leads, to a caller with this `token`, or to one with none."""
        return self._status("/druid/indexer/v1/isLeader", token) == httpx.codes.OK

    def _status(self, path: str, token: str = "") -> int:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        try:
            return self.http.get(path, headers=headers, timeout=1.0).status_code
        except httpx.HTTPError:
            return 0

    def freeze(self) -> None:
        """Stop the process where it is."""
        assert self.child.pid is not None
        freeze(self.child.pid)

    def go_on(self) -> None:
        """Let it run on."""
        self.child.signal(signal.SIGCONT)

    def log(self) -> str:
        """What it has logged."""
        return self.child.log.read_text()


@dataclass
class Overlords:
    """The processes of one database and one warehouse; the block's end ends them."""

    folder: Path
    metadata_url: str
    more: dict[str, str] = field(default_factory=dict)
    all: list[Overlord] = field(default_factory=list)

    def start(self, **own: str) -> Overlord:
        """Start one more, with variables of its `own`, and wait until it serves."""
        port = free_port()
        name = f"overlord-{len(self.all) + 1}"
        env = {
            "TIDEGATE_METADATA_URL": self.metadata_url,
            "TIDEGATE_WAREHOUSE": str(self.folder / "warehouse"),
            "TIDEGATE_DATA_DIR": str(self.folder / name),
            "TIDEGATE_PORT": str(port),
        }
        child = Child(
            ChildSpec(
                name=name,
                argv=(sys.executable, "-m", "supervisor.cli.main", "overlord"),
                folder=self.folder / "logs",
                env=env | self.more | own,
                grace=timedelta(seconds=20),
            )
        )
        child.start()
        client = httpx.Client(base_url=f"http://{LOOPBACK}:{port}", timeout=60.0)
        overlord = Overlord(name, port, child, client)
        self.all.append(overlord)
        wait_until(overlord.serves, within_s=START_WITHIN_S)
        return overlord

    def start_leader(self, token: str = "", **own: str) -> Overlord:
        """Start one and wait until it leads; before that, what only a leader knows is 503.

        `token` is of a user who may ask it, where callers are asked who they are.
        """
        leader = self.start(**own)
        wait_until(lambda: leader.leads(token))
        return leader

    def leader_and_follower(self) -> tuple[Overlord, Overlord]:
        """Start two; the first of them leads before the second starts."""
        leader = self.start_leader()
        follower = self.start()
        # It knows the leader once it has looked.
        path = "/druid/indexer/v1/leader"
        wait_until(lambda: follower.http.get(path).text == leader.url)
        return leader, follower

    def term(self) -> int:
        """Return the present term, read from the database."""
        store = SqlStore(self.metadata_url, lease_ttl=timedelta(seconds=10), pool_size=1)
        try:
            with store.reading() as tx:
                lease = tx.lease.read()
        finally:
            store.close()
        assert lease is not None
        return lease.term

    def __enter__(self) -> Self:
        """Use it for one test."""
        return self

    def __exit__(self, *_: object) -> None:
        """End what runs, also what was frozen."""
        for each in self.all:
            each.go_on()
            each.child.stop()
            each.http.close()


@contextmanager
def silent_broker() -> Iterator[str]:
    """Yield the address of a server that takes connections and never says a word."""
    with socket.socket() as listening:
        listening.bind((LOOPBACK, 0))
        listening.listen(64)  # the system completes the connections; nobody accepts them
        yield f"{LOOPBACK}:{listening.getsockname()[1]}"


@dataclass
class PendingCall:
    """One call in a thread of its own."""

    answer: httpx.Response | Exception | None = None
    took_s: float = 0.0
    thread: threading.Thread = field(default_factory=threading.Thread)

    @property
    def done(self) -> bool:
        """Whether it has ended."""
        return not self.thread.is_alive()

    @property
    def response(self) -> httpx.Response:
        """The answer."""
        assert isinstance(self.answer, httpx.Response), self.answer
        return self.answer


def ask(call: Callable[[], httpx.Response]) -> PendingCall:
    """Begin a call and return at once."""
    pending = PendingCall()

    def run() -> None:
        began = time.monotonic()
        try:
            pending.answer = call()
        except httpx.HTTPError as error:
            pending.answer = error
        pending.took_s = time.monotonic() - began

    pending.thread = threading.Thread(target=run, daemon=True)
    pending.thread.start()
    return pending
