"""How the servers of all processes listen."""

import httpx
from fastapi import FastAPI

from supervisor.app.listening import new_server
from supervisor.settings.settings import Settings


def test_a_client_gives_an_idle_connection_up_before_the_server_does() -> None:
    """Goal: no request is sent on a connection that the server is just closing."""
    kept_s = httpx.Limits().keepalive_expiry

    assert kept_s is not None
    assert new_server(FastAPI(), Settings(), {}).config.timeout_keep_alive > kept_s + 10
