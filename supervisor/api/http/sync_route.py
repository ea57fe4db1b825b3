"""The route of syncs: a report that repeats the one before is not read again."""

from typing import Any, cast

from fastapi import Request
from fastapi.routing import APIRoute

from supervisor.services.services import Services

__all__ = ["SyncRoute"]


class SyncRoute(APIRoute):
    """A route whose body is the report of a worker."""

    def get_route_handler(self) -> Any:  # noqa: ANN401 -- FastAPI's type
        """Return FastAPI's handler, for which a repeated report is one that was read."""
        handle = super().get_route_handler()

        async def handler(request: Request) -> Any:  # noqa: ANN401 -- FastAPI's type
            return await handle(_Reporting(request.scope, request.receive))

        return handler


class _Reporting(Request):
    """A request that answers a repeated body with the report itself, which pydantic passes on."""

    async def json(self) -> Any:  # noqa: ANN401 -- Starlette's type
        last = cast("Services", self.app.state.parts).last_reports
        worker, body = str(self.path_params.get("worker")), await self.body()
        repeated = last.repeated(worker, body)
        return await super().json() if repeated is None else repeated
