"""The HTTP application of a persister.

    GET  /ping                  200 while it is well or gets well by itself, else 503 and why
    GET  /status                state, what is under way, partitions, lag, losses
    GET  /metrics               for scrapers
    POST /pause, /resume        by an operator
    POST /internal/v1/reports   records, one JSON object a line; an outcome for each

With a token each caller of a POST must send it; the key of the door is enough for records, and for
nothing else.  Without a token the process listens on loopback only.
"""

import hmac
from http import HTTPStatus

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from starlette.concurrency import run_in_threadpool

from supervisor.api.persister.metrics import PersisterCollector
from supervisor.reports.door import Busy, NotNow
from supervisor.reports.service import Persister, PersisterView

__all__ = ["create_persister_api"]

BATCH_BYTES_MAX = 16 * 1024 * 1024


def create_persister_api(persister: Persister, token: str | None, key: str | None) -> FastAPI:
    """Return the application; callers send `token` for its verbs, and for records also `key`."""
    app = FastAPI(title="Tidegate persister", openapi_url=None, docs_url=None, redoc_url=None)
    registry = CollectorRegistry(auto_describe=False)
    registry.register(PersisterCollector(persister))

    @app.get("/ping")
    def ping() -> Response:
        view = persister.view()
        status = HTTPStatus.OK if view.well else HTTPStatus.SERVICE_UNAVAILABLE
        return JSONResponse(_head(view), status)

    @app.get("/status")
    def status() -> Response:
        return JSONResponse(_head(persister.view()) | _body(persister.view()))

    @app.get("/metrics")
    def metrics() -> Response:
        return Response(generate_latest(registry), media_type=CONTENT_TYPE_PLAIN_0_0_4)

    @app.post("/pause")
    def pause(request: Request) -> Response:
        if (refused := _refused(request, token)) is not None:
            return refused
        persister.pause("an operator")
        return JSONResponse(_head(persister.view()))

    @app.post("/resume")
    def resume(request: Request) -> Response:
        if (refused := _refused(request, token)) is not None:
            return refused
        persister.resume("an operator")
        return JSONResponse(_head(persister.view()))

    @app.post("/internal/v1/reports")
    async def reports(request: Request) -> Response:
        if (refused := _refused(request, token, key)) is not None:
            return refused
        size, pieces = 0, []
        async for piece in request.stream():
            size += len(piece)
            if size > BATCH_BYTES_MAX:
                return _problem(
                    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                    f"a batch has {BATCH_BYTES_MAX} bytes at most",
                )
            pieces.append(piece)
        bodies = [line for line in b"".join(pieces).split(b"\n") if line]
        return await run_in_threadpool(_put, persister, bodies)

    return app


def _put(persister: Persister, bodies: list[bytes]) -> Response:
    try:
        outcomes = persister.door.put(bodies)
    except Busy as error:
        return _problem(HTTPStatus.TOO_MANY_REQUESTS, str(error), error.retry_s)
    except NotNow as error:
        return _problem(HTTPStatus.SERVICE_UNAVAILABLE, str(error), error.retry_s)
    return JSONResponse({"outcomes": outcomes})


def _refused(request: Request, *tokens: str | None) -> Response | None:
    """Return an answer for a caller with none of the tokens; None: the caller may."""
    wanted = [each for each in tokens if each is not None]
    if not wanted:
        return None
    given = request.headers.get("authorization", "").encode()
    if any(hmac.compare_digest(given, f"Bearer {each}".encode()) for each in wanted):
        return None
    return _problem(
        HTTPStatus.UNAUTHORIZED,
        "send the persister's TIDEGATE_TOKEN as a bearer token; for records its "
        "TIDEGATE_REPORTS_KEY is enough",
    )


def _problem(status: HTTPStatus, detail: str, retry_s: int | None = None) -> Response:
    headers = {} if retry_s is None else {"Retry-After": str(retry_s)}
    body = {"title": status.phrase, "status": status.value, "detail": detail}
    return JSONResponse(body, status, headers, media_type="application/problem+json")


def _head(view: PersisterView) -> dict[str, object]:
    status = view.pipeline.status
    return {"state": status.state, "tries": status.tries, "reason": view.reason}


def _body(view: PersisterView) -> dict[str, object]:
    flight, intake = view.pipeline.in_flight, view.intake
    body: dict[str, object] = {
        "inFlight": {"records": flight.records, "bytes": flight.size_bytes},
        "oldestUnfinishedSeconds": round(view.pipeline.oldest_s, 3),
    }
    if intake is not None:
        body |= {
            "partitions": intake.partitions,
            "pausedPartitions": intake.paused,
            "lag": {topic: each.records for topic, each in intake.lag.items()},
            "lostOffsets": dict(intake.lost_offsets),
        }
    return body
