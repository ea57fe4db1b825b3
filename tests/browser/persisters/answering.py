"""A persister's real routes behind an address, as an overlord reaches them."""

from collections.abc import Iterator
from contextlib import contextmanager

from starlette.testclient import TestClient

from tests.supervisor.cli.cluster.test_reports import STATUS
from tests.supervisor.cli.overlord import Overlord as Server
from tests.supervisor.cli.overlord import Reply, Request
from tests.supervisor.reports.desks import TOKEN

__all__ = ["answering"]


@contextmanager
def answering(server: Server, client: TestClient) -> Iterator[None]:
    """Have a server pass on what it is asked to a persister; its status is a prepared one."""

    def ask(request: Request) -> Reply:
        if request.path == "/status":
            return Reply(STATUS)
        answer = client.request(
            request.method,
            request.path,
            params=[(name, each) for name, values in request.query.items() for each in values],
            headers={"Authorization": f"Bearer {TOKEN}"},
        )
        return Reply(answer.json(), answer.status_code)

    server.ask = ask
    yield
    server.ask = None
