"""A client of an application in this process: a request is one errand to the application's thread.

Starlette's own makes eight of each request, to hand over an answer piece by piece: a third of the
CPU of all tests of the API.  Its thread, and how it starts and ends an application, are kept.
"""

from anyio.from_thread import BlockingPortal
from fastapi import FastAPI
from fastapi.testclient import TestClient
from httpx import ASGITransport, BaseTransport, ByteStream, Request, Response

__all__ = ["Client"]


class Client(TestClient):
    """Answers are whole; an error that nothing in the application catches is a 500."""

    def __init__(self, app: FastAPI, base_url: str) -> None:
        """Nothing runs before `with`."""
        super().__init__(app, base_url, raise_server_exceptions=False)
        self._transport = _Whole(self)


class _Whole(BaseTransport):
    def __init__(self, client: Client) -> None:
        self.client = client
        address = ("testclient", 50000)  # starlette's
        self.inner = ASGITransport(client.app, raise_app_exceptions=False, client=address)

    def handle_request(self, request: Request) -> Response:
        """Return the answer when the application has ended with it."""
        portal = self.client.portal
        assert isinstance(portal, BlockingPortal), "the client is used outside of its `with`"
        return portal.call(self._answer, request)

    async def _answer(self, request: Request) -> Response:
        request.read()  # its stream is one of both kinds then
        answer = await self.inner.handle_async_request(request)
        # As it was sent: an answer that is compressed is unpacked once, by the test's client.
        body = ByteStream(b"".join([piece async for piece in answer.aiter_raw()]))
        return Response(answer.status_code, headers=answer.headers, stream=body)
