"""The overlord's HTTP application, built from its services; nothing connects here.

    request ─► Requests ─► SecurityHeaders ─► HostNames ─► ServedPaths ─► ConsolePages ─┐
               problems ◄───── refused ───────┴─────────────┴────────────┐               │
                            route ◄── Needs ◄── OncePerKey ◄── Bodies ◄──┴─ Authenticate ◄┘

Each route declares its permission by `Needs`; without a declaration the overlord does not start.

Every answer that is not a route's own is a problem (`http/problems.py`).
"""

from collections.abc import Sequence
from pathlib import Path

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware

from supervisor.api.console.build import FOLDER
from supervisor.api.console.pages import ConsolePages
from supervisor.api.http.access import open_paths, secured
from supervisor.api.http.authenticate import Authenticate
from supervisor.api.http.edge import Bodies, HostNames, SecurityHeaders
from supervisor.api.http.idempotency import OncePerKey
from supervisor.api.http.leader import to_the_leader
from supervisor.api.http.listeners import Listener, ServedPaths
from supervisor.api.http.methods import methods_of
from supervisor.api.http.problems import render_bug, render_error, render_http, render_invalid
from supervisor.api.http.requests import Requests
from supervisor.api.openapi.answers import answered
from supervisor.api.openapi.bodies import with_bodies
from supervisor.api.openapi.document import described
from supervisor.api.openapi.links import linked
from supervisor.api.routes.cluster import (
    audit,
    events,
    letters,
    metrics,
    overview,
    queues,
    reports,
    schemas,
    sessions,
    status,
)
from supervisor.api.routes.flows import (
    executions,
    executor,
    flows,
    following,
    plans,
    reruns,
    steps,
    triggers,
)
from supervisor.api.routes.flows import logs as execution_logs
from supervisor.api.routes.supervisors import (
    backfills,
    bulk,
    bundle,
    coverage,
    dry_run,
    explain,
    generations,
    handoffs,
    lag,
    life,
    listing,
    offsets,
    operations,
    partitions,
    resets,
    rollback,
    sampler,
    supervisors,
    versions,
)
from supervisor.api.routes.tables import compaction, datasources, exports, quarantine, segments
from supervisor.api.routes.tasks import (
    internal,
    task_pages,
    task_verbs,
    tasks,
    worker_pages,
    workers,
)
from supervisor.core.values.errors import LeaseLost, SupervisorError
from supervisor.services.services import Services

__all__ = ["Services", "build_routes", "create_api"]

ROUTERS = (
    internal.reports,  # first: most requests are syncs, and each router before is tried for each
    internal.router,
    supervisors.router,
    life.router,
    dry_run.router,
    sampler.router,
    handoffs.router,
    resets.router,
    backfills.router,
    bulk.router,
    rollback.router,
    tasks.router,
    task_pages.router,
    task_verbs.router,
    workers.router,
    worker_pages.router,
    datasources.router,
    segments.router,
    compaction.router,
    quarantine.router,
    exports.router,
    queues.router,
    audit.router,
    events.router,
    reports.router,
    letters.router,
    flows.router,
    plans.router,
    executions.router,
    execution_logs.router,
    reruns.router,
    following.router,
    triggers.router,
    steps.router,
    executor.router,
    generations.router,
    operations.router,
    lag.router,
    listing.router,
    overview.router,
    explain.router,
    coverage.router,
    partitions.router,
    bundle.router,
    offsets.router,
    schemas.router,
    sessions.router,
    versions.router,
    status.router,
    metrics.router,
)


class Api(FastAPI):
    """FastAPI whose OpenAPI document describes our problems, not FastAPI's own errors."""

    def openapi(self) -> dict[str, object]:
        """Return the OpenAPI document."""
        if self.openapi_schema is None:
            document = secured(with_bodies(described(super().openapi())), self.routes)
            self.openapi_schema = linked(answered(document))
        return self.openapi_schema


def create_api(services: Services, listener: Listener = Listener.EVERYBODY) -> FastAPI:
    """Return the application of one listener; it serves once a server runs it."""
    api = build_routes(services.hosts, listener)
    api.state.parts = services
    return api


def build_routes(
    hosts: Sequence[str] = (), listener: Listener = Listener.EVERYBODY, console: Path = FOLDER
) -> FastAPI:
    """Return the application without services: enough to describe it.

    `console` is the folder of the built console.
    """
    api = Api(
        title="Tidegate overlord",
        version="v1",
        docs_url=None,  # these pages load scripts from other sites
        redoc_url=None,
        middleware=[
            Middleware(Requests),
            Middleware(SecurityHeaders),
            Middleware(HostNames, hosts=tuple(hosts)),
            Middleware(ServedPaths, listener=listener),
            Middleware(ConsolePages, folder=console),
            Middleware(Authenticate),
            Middleware(Bodies),
            Middleware(OncePerKey),
        ],
    )
    api.add_exception_handler(LeaseLost, to_the_leader)
    api.add_exception_handler(SupervisorError, render_error)
    api.add_exception_handler(RequestValidationError, render_invalid)
    api.add_exception_handler(HTTPException, render_http)
    api.add_exception_handler(Exception, render_bug)
    for router in ROUTERS:
        api.include_router(router)
    api.state.open_paths = open_paths(api.routes)
    api.state.methods_of = methods_of(api.routes)
    return api
