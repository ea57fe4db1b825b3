"""The HTTP application of a persister.

    GET  /ping                  200 while it is well or gets well by itself, else 503 and why
    GET  /status                state, what is under way, partitions, lag, losses
    GET  /metrics               for scrapers
    POST /pause, /resume        by an operator
    POST /internal/v1/reports   records, one JSON object a line; an outcome for each
    /dead-letters               records that could not be stored: list, show, replay, drop

With a token each caller of a POST must send it; the key of the door is enough for records, and for
nothing else.  Without a token the process listens on loopback only.
"""

from http import HTTPStatus

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from starlette.concurrency import run_in_threadpool

from supervisor.api.persister.answers import Guard, guard, problem
from supervisor.api.persister.letters import letter_routes
from supervisor.api.persister.metrics import PersisterCollector
from supervisor.core.reports.status import PersisterState, StoreOutcome
from supervisor.reports.door import Busy, NotNow
from supervisor.reports.service import Persister, PersisterView

__all__ = ["create_persister_api"]

BATCH_BYTES_MAX = 16 * 1024 * 1024
_STOPPED = PersisterState.STOPPED


def create_persister_api(persister: Persister, token: str | None, key: str | None) -> FastAPI:
    """Return the application; callers send `token` for its verbs, and for records also `key`."""
    app = FastAPI(title="Tidegate persister", openapi_url=None, docs_url=None, redoc_url=None)
    registry = CollectorRegistry(auto_describe=False)
    registry.register(PersisterCollector(persister))
    refused = guard(token)
    app.include_router(letter_routes(persister.desk, refused))

    @app.get("/ping")
    def ping() -> Response:
        view = persister.view()
        status = HTTPStatus.OK if view.well else HTTPStatus.SERVICE_UNAVAILABLE
        return JSONResponse(_head(view), status)

    @app.get("/status")
    def status() -> Response:
        view = persister.view()
        return JSONResponse(_head(view) | _body(view) | _counted(persister))

    @app.get("/metrics")
    def metrics() -> Response:
        return Response(generate_latest(registry), media_type=CONTENT_TYPE_PLAIN_0_0_4)

    @app.post("/pause")
    def pause(request: Request) -> Response:
        if (answer := refused(request)) is not None:
            return answer
        persister.pause("an operator")
        return JSONResponse(_head(persister.view()))

    @app.post("/resume")
    def resume(request: Request) -> Response:
        if (answer := refused(request)) is not None:
            return answer
        persister.resume("an operator")
        return JSONResponse(_head(persister.view()))

    _take_reports(app, persister, guard(token, key))
    return app


def _take_reports(app: FastAPI, persister: Persister, refused: Guard) -> None:
    @app.post("/internal/v1/reports")
    async def reports(request: Request) -> Response:
        if (answer := refused(request)) is not None:
            return answer
        size, pieces = 0, []
        async for piece in request.stream():
            size += len(piece)
            if size > BATCH_BYTES_MAX:
                return problem(
                    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                    f"a batch has {BATCH_BYTES_MAX} bytes at most",
                )
            pieces.append(piece)
        bodies = [line for line in b"".join(pieces).split(b"\n") if line]
        return await run_in_threadpool(_put, persister, bodies)


def _put(persister: Persister, bodies: list[bytes]) -> Response:
    try:
        outcomes = persister.door.put(bodies)
    except Busy as error:
        return problem(HTTPStatus.TOO_MANY_REQUESTS, str(error), error.retry_s)
    except NotNow as error:
        return problem(HTTPStatus.SERVICE_UNAVAILABLE, str(error), error.retry_s)
    return JSONResponse({"outcomes": outcomes})


def _head(view: PersisterView) -> dict[str, object]:
    status = view.pipeline.status
    return {
        "state": status.state,
        "tries": status.tries,
        "reason": view.reason,
        "fix": "" if view.well else _fix(view),
    }


def _fix(view: PersisterView) -> str:
    """Return what to do, for people; empty: it gets well by itself."""
    if view.intake is not None and not view.reads:
        return "start this persister again"
    return "tidegate reports resume" if view.pipeline.status.state is _STOPPED else ""


def _body(view: PersisterView) -> dict[str, object]:
    flight, intake = view.pipeline.in_flight, view.intake
    body: dict[str, object] = {
        "inFlight": {"records": flight.records, "bytes": flight.size_bytes},
        "oldestUnfinishedSeconds": round(view.pipeline.oldest_s, 3),
        "deadLetters": view.letters,
        "now": view.now.isoformat(),
    }
    if intake is not None:
        body |= {
            "partitions": intake.partitions,
            "pausedPartitions": intake.paused,
            "lag": {topic: each.records for topic, each in intake.lag.items()},
            "lagSeconds": {topic: each.seconds for topic, each in intake.lag.items()},
            "lostOffsets": dict(intake.lost_offsets),
        }
    return body


def _counted(persister: Persister) -> dict[str, object]:
    counts = persister.pipeline.meters.counts()
    return {
        "stored": counts.outcomes.get(StoreOutcome.STORED, 0),
        "conflicts": counts.outcomes.get(StoreOutcome.CONFLICT, 0),
        "mismatches": counts.outcomes.get(StoreOutcome.MISMATCH, 0),
        "rejected": counts.outcomes.get(StoreOutcome.REJECTED, 0),
        "bytes": counts.size_bytes,
    }
