"""An overlord whose flows run on Kafka, an executor that makes a call, and one that was killed."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pydantic import JsonValue
from sqlalchemy import update

from supervisor.adapters.executions.database import ExecutionDatabase
from supervisor.adapters.executions.executors import SqlExecutors
from supervisor.adapters.executions.schema import EXECUTORS
from supervisor.core.executions.entities import Runner
from supervisor.ports.flows.execution_log import LogTopic
from tests.browser.planted.flows import apply_flow, start_flow
from tests.integration.executors.processes import Executors
from tests.integration.overlords import Overlord, Overlords
from tests.supervisor.cli.overlord import Overlord as Server
from tests.supervisor.cli.overlord import Reply, Request
from tests.supervisor.cli.overlord import overlord as a_server
from tests.waiting import HANGS_AFTER_S, wait_until

__all__ = ["CALLING", "GONE", "OnKafka", "flows_on_kafka"]

CALLING = "calling:one"
"""An execution whose only step calls a server that does not answer."""
GONE = Runner("executor-9", "a")


@dataclass(frozen=True)
class OnKafka:
    """The overlord, and the executors."""

    overlord: Overlord
    executors: Executors

    def spoil(self, text: str, *keys: str) -> None:
        """Send inputs that cannot be worked in, and wait until they are dead."""
        before = self._dead()
        for key in keys:
            self.executors.log.send(LogTopic.HISTORY, 0, key, text.encode())
        wait_until(lambda: self._dead() == before + len(keys))

    def rests(self) -> bool:
        """Whether each input is worked in, and that is known."""
        partitions = self._standing()["partitions"]
        assert isinstance(partitions, list)
        return not any(each["lag"] for each in partitions)

    def makes(self) -> list[str]:
        """Return the executions of the calls that are made, as the overlord knows it."""
        executors = self._standing()["executors"]
        assert isinstance(executors, list)
        return [call["execution"] for each in executors for call in each["makes"]]

    def _dead(self) -> int:
        return int(str(self._standing()["deadLetters"]))

    def _standing(self) -> dict[str, object]:
        answer = self.overlord.http.get("/api/v1/executor").raise_for_status().json()
        assert isinstance(answer, dict)
        return answer


@contextmanager
def flows_on_kafka(
    folder: Path, bootstrap: str, prefix: str, more: Mapping[str, str], token: str = ""
) -> Iterator[OnKafka]:
    """Start all; `token`: of an admin, where callers are asked who they are."""
    executors = Executors(folder, bootstrap, prefix=prefix)
    env = {
        "TIDEGATE_EXECUTIONS_URL": executors.url,
        "TIDEGATE_EXECUTIONS_KAFKA": bootstrap,
        "TIDEGATE_EXECUTIONS_PREFIX": prefix,
        **more,
    }
    with (
        _hanging() as (called, over),
        Overlords(folder, f"sqlite:///{folder / 'metadata.db'}", more=env) as overlords,
        executors,
    ):
        leader = overlords.start_leader(token)
        if token:
            leader.http.headers["Authorization"] = f"Bearer {token}"
        executors.start()
        _leave_a_row(executors.url)
        flows = OnKafka(leader, executors)
        # A call without an answer fails after 30 s: it is made again for as long as tests need it.
        again: JsonValue = {"attempts": 100, "backoff": "PT1S", "max": "PT1S"}
        call: JsonValue = {"name": "call", "type": "http", "url": called.url, "retry": again}
        apply_flow(leader.http, {"flow": "calling", "steps": [call]})
        assert start_flow(leader.http, "calling", "one") == CALLING
        wait_until(lambda: flows.makes() == [CALLING])
        yield flows
        over.set()  # while somebody still waits for the answer


@contextmanager
def _hanging() -> Iterator[tuple[Server, threading.Event]]:
    """A server that answers no call before the event is set, or before the end of the block."""
    over = threading.Event()

    def hang(_: Request) -> Reply:
        over.wait(HANGS_AFTER_S * 10)
        return Reply({})

    with a_server() as server:
        server.ask = hang
        try:
            yield server, over
        finally:
            over.set()


def _leave_a_row(url: str) -> None:
    """Leave the row of an executor that was killed a minute ago."""
    with closing(ExecutionDatabase(url)) as database:
        SqlExecutors(database).register(GONE, "http://10.0.0.9:8093")
        with database.writing() as connection:
            connection.execute(
                update(EXECUTORS)
                .where(EXECUTORS.c.name == GONE.name)
                .values(renewed_at=datetime.now(UTC) - timedelta(minutes=1), partitions="[6, 7]")
            )
