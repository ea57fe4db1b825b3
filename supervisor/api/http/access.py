"""Authorization: each route declares its permission and scope, and one place enforces them.

    @router.post("/{supervisor_id}/reset", dependencies=[needs(Permission.RESET, SUPERVISOR)])

An object that the caller may not read is answered like a missing one (404).  An object that the
caller may read, but not change in this way, is answered with 403.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import cast

import fastapi.params
from fastapi import APIRouter, Depends, Request
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute

from supervisor.api.http.console import COOKIE, COOKIE_OVER_TLS
from supervisor.api.http.console import HEADER as CONSOLE
from supervisor.api.http.deps import WORKERS_HEADER
from supervisor.core.values.errors import (
    CompactionNotFound,
    DataSourceNotFound,
    NoHistory,
    NotAllowed,
    OperationNotFound,
    QueueNotFound,
    SupervisorError,
    SupervisorNotFound,
    TaskNotFound,
)
from supervisor.core.values.permissions import Caller, Permission
from supervisor.services.access.ownership import Ownership
from supervisor.services.services import Services

EXTENSION = "x-tidegate-permission"
_Path = Mapping[str, str]


@dataclass(frozen=True)
class Scope:
    """The kind of object of a route, and the tables that decide who may use it."""

    name: str
    tables: Callable[[Ownership, _Path], Iterable[str | None]] | None = None
    """Returns the tables of the path's object; none: no such object.  None: of no single table."""
    missing: Callable[[_Path], SupervisorError] | None = None
    """Returns the error for an object that is missing, or that the caller may not see."""


def _some(table: str | None) -> tuple[str, ...]:
    return () if table is None else (table,)


CLUSTER = Scope("cluster", lambda _, __: (None,))
"""An object of no single table: only a grant on `*` counts."""
LISTED = Scope("listed")
"""A list, from which the route leaves out what the caller may not read."""
SPEC = Scope("spec")
"""The posted spec and the one before: the service checks the tables of both."""
SUPERVISOR = Scope(
    "supervisor",
    lambda tables, path: _some(tables.of_supervisor(path["supervisor_id"])),
    lambda path: SupervisorNotFound(path["supervisor_id"]),
)
SUPERVISOR_EVER = Scope(
    "supervisor-ever",
    lambda tables, path: tables.ever_of_supervisor(path["supervisor_id"]),
    lambda path: SupervisorNotFound(path["supervisor_id"]),
)
"""Every table that the supervisor has ever fed: the answer has facts about all of them."""
HISTORY = Scope(
    "supervisor",
    lambda tables, path: _some(tables.of_supervisor(path["supervisor_id"])),
    lambda path: NoHistory(path["supervisor_id"]),
)
TASK = Scope(
    "task",
    lambda tables, path: _some(tables.of_task(path["task_id"])),
    lambda path: TaskNotFound(path["task_id"]),
)
DATA_SOURCE = Scope(
    "dataSource",
    lambda _, path: (path["data_source"],),
    lambda path: DataSourceNotFound(path["data_source"]),
)
COMPACTION = Scope(
    "compaction",
    lambda tables, path: _some(tables.of_compaction(path["compaction"])),
    lambda path: CompactionNotFound(path["compaction"]),
)
OPERATION = Scope(
    "operation",
    lambda tables, path: tables.of_operation(path["operation"]),
    lambda path: OperationNotFound(path["operation"]),
)
QUEUE = Scope(
    "queue",
    lambda tables, path: tables.of_container(path["container"]) or (None,),
    lambda path: QueueNotFound(path["container"], path["name"]),
)


@dataclass(frozen=True)
class Shown:
    """The filter of lists of the past: supervisors all of whose tables the caller may read."""

    tables: Ownership
    caller: Caller
    _known: dict[str, bool] = field(default_factory=dict)
    _begun: dict[str, datetime | None] = field(default_factory=dict)

    @classmethod
    def to(cls, caller: Caller, parts: Services) -> "Shown":
        """Return the filter for one answer; it caches its lookups."""
        return cls(Ownership(parts.store), caller)

    def supervisor(self, supervisor_id: str) -> bool:
        """Whether the caller may see a supervisor's past; a forgotten one needs a grant on all."""
        if self.caller.reads_all:
            return True
        if supervisor_id not in self._known:
            tables = self.tables.ever_of_supervisor(supervisor_id)
            self._known[supervisor_id] = bool(tables) and all(map(self.caller.may_read, tables))
        return self._known[supervisor_id]

    def event(self, supervisor_id: str, at: datetime) -> bool:
        """Whether the caller may see what happened to a supervisor at a time.

        Events outlive a supervisor that is forgotten, and its id may be another one's by now, which
        feeds another table.
        """
        if self.caller.reads_all:
            return True
        if not self.supervisor(supervisor_id):
            return False
        if supervisor_id not in self._begun:
            self._begun[supervisor_id] = self.tables.first_of_supervisor(supervisor_id)
        begun = self._begun[supervisor_id]
        return begun is not None and at >= begun


@dataclass(frozen=True)
class Needs:
    """The permission and scope of a route: a dependency, which FastAPI calls before the route."""

    permission: Permission
    scope: Scope

    def __call__(self, request: Request) -> None:
        """Return if the caller is allowed; else record the denied try, and raise."""
        caller: Caller = request.state.caller
        parts: Services = request.app.state.parts
        try:
            self.enforce(caller, parts, request.path_params)
        except SupervisorError as refused:
            if isinstance(refused, NotAllowed) and parts.authentication is not None:
                what = f"{request.method} {printable_route(request)}"
                parts.authentication.note(caller.name, caller.address, what, str(refused))
            raise

    def enforce(self, caller: Caller, parts: Services, path: _Path) -> None:
        """Return if the caller is allowed.

        Raises:
            NotAllowed: the caller may see the object, but not do this.
            Refused: as of the scope, for an object that is missing or hidden from the caller.
        """
        if caller.may(self.permission, None):
            return
        if self.scope.tables is None:
            if not caller.may_somewhere(self.permission):
                raise _not_allowed(self.permission)
            return
        tables = list(self.scope.tables(Ownership(parts.store), path))
        hidden = not tables or not all(caller.may(Permission.READ, table) for table in tables)
        if hidden and self.scope.missing is not None and self.permission not in _UNSCOPED:
            raise self.scope.missing(path)
        if not all(caller.may(self.permission, table) for table in tables):
            raise _not_allowed(self.permission)


_UNSCOPED = {Permission.OPEN, Permission.WORK, Permission.SIGNED_IN}


def _not_allowed(permission: Permission) -> NotAllowed:
    return NotAllowed(f"you may not do this: it needs the permission {permission} here")


def needs(permission: Permission, scope: Scope = CLUSTER) -> fastapi.params.Depends:
    """Declare the permission and scope of a route, exactly once in its `dependencies`."""
    return cast("fastapi.params.Depends", Depends(Needs(permission, scope)))


class Undeclared(Exception):
    """A route declares no permission: the API is not served."""


def needs_of(route: APIRoute) -> Needs:
    """Return the declaration of a route.

    Raises:
        Undeclared: the route has no declaration, or two.
    """
    declarations = [
        each.dependency for each in route.dependencies if isinstance(each.dependency, Needs)
    ]
    if len(declarations) != 1:
        problem = "declares no permission" if not declarations else "declares several permissions"
        raise Undeclared(f"{sorted(route.methods or ())} {route.path} {problem}: see access.py")
    return declarations[0]


def api_routes(routes: Sequence[BaseRoute]) -> list[APIRoute]:
    """Return our own routes; only the one of the OpenAPI document is FastAPI's."""
    every = list(_flat(routes))
    ours = [route for route in every if isinstance(route, APIRoute)]
    others = [getattr(route, "path", "?") for route in every if not isinstance(route, APIRoute)]
    if others != ["/openapi.json"]:
        raise Undeclared(f"{others}: only /openapi.json needs no declaration, but a known caller")
    return ours


def _flat(routes: Iterable[BaseRoute]) -> Iterator[BaseRoute]:
    """Yield the routes one by one; newer FastAPI keeps an included router as one entry."""
    for route in routes:
        included: APIRouter | None = getattr(route, "original_router", None)
        if included is None:
            yield route
        else:
            yield from _flat(included.routes)


def open_paths(routes: Sequence[BaseRoute]) -> frozenset[str]:
    """Return the paths without authentication; every route must have a declaration.

    Raises:
        Undeclared: a route has no declaration.
    """
    declared = [(route.path_format, needs_of(route).permission) for route in api_routes(routes)]
    return frozenset(path for path, permission in declared if permission is Permission.OPEN)


def printable_route(request: Request) -> str:
    """Return the path in a form for logs and rows: bounded and printable."""
    path = request.url.path
    return "".join(sign for sign in path if sign.isprintable())[:200]


def secured(document: dict[str, object], routes: Sequence[BaseRoute]) -> dict[str, object]:
    """Add the authentication schemes, and each route's permission, to the OpenAPI document."""
    components = cast("dict[str, object]", document["components"])
    components["securitySchemes"] = {
        "bearer": {"type": "http", "scheme": "bearer"},
        "basic": {"type": "http", "scheme": "basic"},
        "worker": {"type": "apiKey", "in": "header", "name": WORKERS_HEADER},
        "session": {
            "type": "apiKey",
            "in": "cookie",
            "name": COOKIE,
            "description": f"Over TLS its name is {COOKIE_OVER_TLS}.",
        },
        "console": {"type": "apiKey", "in": "header", "name": CONSOLE},
    }
    paths = cast("dict[str, dict[str, dict[str, object]]]", document["paths"])
    for route in api_routes(routes):
        wanted = needs_of(route)
        for method in route.methods or ():
            operation = paths[route.path_format][method.lower()]
            operation["security"] = _security(wanted.permission)
            on = {} if wanted.permission in _UNSCOPED else {"on": wanted.scope.name}
            operation[EXTENSION] = {"permission": wanted.permission.value} | on
    return document


def _security(permission: Permission) -> list[dict[str, list[str]]]:
    match permission:
        case Permission.OPEN:
            return []
        case Permission.WORK:
            return [{"worker": []}]
    return [{"bearer": []}, {"basic": []}, {"session": [], "console": []}]
