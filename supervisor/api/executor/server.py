"""The HTTP application of an executor.

    GET  /ping       200 while it is well, else 503 and why
    GET  /status     its clock, its partitions with position, lag and trouble, the calls it makes
    GET  /metrics    for scrapers

Nothing can be ordered here: flows are begun, killed and answered at the overlord.
"""

from http import HTTPStatus

from fastapi import FastAPI, Response
from fastapi.responses import JSONResponse
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from supervisor.api.executor.metrics import ExecutorCollector
from supervisor.executions.executor.service import Executor, ExecutorView
from supervisor.ports.clock import Clock

__all__ = ["create_executor_api"]


def create_executor_api(executor: Executor, clock: Clock) -> FastAPI:
    """Return the application."""
    app = FastAPI(title="Tidegate executor", openapi_url=None, docs_url=None, redoc_url=None)
    registry = CollectorRegistry(auto_describe=False)
    registry.register(ExecutorCollector(executor))

    @app.get("/ping")
    def ping() -> Response:
        view = executor.view()
        status = HTTPStatus.SERVICE_UNAVAILABLE if view.reason else HTTPStatus.OK
        return JSONResponse(_head(view), status)

    @app.get("/status")
    def status() -> Response:
        view = executor.view()
        return JSONResponse(_head(view) | {"now": clock.now().isoformat()} | _body(view))

    @app.get("/metrics")
    def metrics() -> Response:
        return Response(generate_latest(registry), media_type=CONTENT_TYPE_PLAIN_0_0_4)

    return app


def _head(view: ExecutorView) -> dict[str, object]:
    return {
        "name": view.name,
        "incarnation": view.incarnation,
        "state": "WAITING" if view.reason else "RUNNING",
        "reason": view.reason,
    }


def _body(view: ExecutorView) -> dict[str, object]:
    return {
        "partitions": [
            {
                "partition": one.partition,
                "position": one.position,
                "lag": one.lag,
                "projectionLag": one.projection_lag,
                "waitingCalls": one.waiting,
                "executions": one.executions,
                "trouble": one.trouble,
            }
            for one in view.partitions
        ],
        "makes": [
            {
                "execution": call.execution,
                "run": call.run,
                "attempt": call.attempt,
                "look": call.look,
            }
            for call in view.makes
        ],
        "counts": dict(view.counts),
        "lostCalls": view.lost,
    }
