"""The paths of each listener: every route of the overlord is served by exactly one of two ports."""

import pytest
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from supervisor.api.http.access import api_routes
from supervisor.api.http.listeners import Listener, ServedPaths
from supervisor.api.server import build_routes
from supervisor.app.parts import address_for_workers
from supervisor.core.model.rows import Lease
from supervisor.settings.problems import SetupProblem
from supervisor.settings.settings import Settings

PATHS = sorted({route.path_format for route in api_routes(build_routes().routes)})


async def _anything(scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG001 -- ASGI
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"served"})


@pytest.mark.parametrize("path", PATHS)
def test_a_route_is_served_by_one_of_two_ports(path: str) -> None:
    serving = {
        listener
        for listener in (Listener.PEOPLE, Listener.WORKERS)
        if TestClient(ServedPaths(_anything, listener)).get(path).status_code != 421
    }

    assert serving == {Listener.WORKERS if path.startswith("/internal/") else Listener.PEOPLE}
    assert TestClient(ServedPaths(_anything, Listener.EVERYBODY)).get(path).status_code == 200


@pytest.mark.parametrize(
    ("more", "address"),
    [
        ({}, "http://overlord:8090"),
        ({"internal_port": 8092}, "http://overlord:8092"),
        ({"internal_port": 8092, "tls_cert": "c", "tls_key": "k"}, "https://overlord:8092"),
    ],
)
def test_the_address_for_workers_has_the_host_of_the_others(
    more: dict[str, object], address: str
) -> None:
    settings = Settings(**more)  # type: ignore[arg-type]  # pydantic checks it

    assert address_for_workers(settings, "http://overlord:8090") == address


def test_one_port_cannot_be_for_both() -> None:
    with pytest.raises(SetupProblem, match="TIDEGATE_INTERNAL_PORT"):
        address_for_workers(Settings(port=8092, internal_port=8092), "http://overlord:8092")


@pytest.mark.parametrize(
    ("holder", "address"),
    [("http://o:8092#17", "http://o:8092"), ("", None), ("me", None), ("overlord#2", None)],
)
def test_the_holder_of_a_lease_begins_with_the_address_for_workers(
    holder: str, address: str | None
) -> None:
    """Goal: an overlord of the release before wrote its only address there."""
    assert Lease(1, holder, "http://o:8090", 0).address_for_workers == address
