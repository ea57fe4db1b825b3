"""What each route needs, declared beside it, and the one place that enforces it.

    @router.post("/{supervisor_id}/reset", dependencies=[needs(Permission.RESET, SUPERVISOR)])

An object that the caller may not read is answered as one that is not there (404); one that it may
read, and not change so, with 403.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import fastapi.params
from fastapi import APIRouter, Depends, Request
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute

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
    """What a route is about, and which tables decide over it."""

    name: str
    tables: Callable[[Ownership, _Path], Iterable[str | None]] | None = None
    """Of the path; empty: there is no such thing.  A table None: it is no single table's."""
    missing: Callable[[_Path], SupervisorError] | None = None
    """What is answered if there is none, or none that the caller may see."""


def _some(table: str | None) -> tuple[str, ...]:
    return () if table is None else (table,)


CLUSTER = Scope("cluster", lambda _, __: (None,))
"""What is no single table's: only a grant on `*` counts."""
LISTED = Scope("listed")
"""A list, of which the route shows what the caller may read."""
SPEC = Scope("spec")
"""The spec in the body, and the one before: the service asks about both."""
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
"""Every table that the supervisor was ever to feed: what is shown tells of all of them."""
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
    """What a list of the past shows: of supervisors all of whose tables the caller may read."""

    tables: Ownership
    caller: Caller
    _known: dict[str, bool] = field(default_factory=dict)

    @classmethod
    def to(cls, caller: Caller, parts: Services) -> "Shown":
        """Begin to look; what is found counts for one answer."""
        return cls(Ownership(parts.store), caller)

    def supervisor(self, supervisor_id: str) -> bool:
        """Tell whether the caller may see its past; of one that was forgotten only who sees all."""
        if self.caller.reads_all:
            return True
        if supervisor_id not in self._known:
            tables = self.tables.ever_of_supervisor(supervisor_id)
            self._known[supervisor_id] = bool(tables) and all(map(self.caller.may_read, tables))
        return self._known[supervisor_id]


@dataclass(frozen=True)
class Needs:
    """What a route needs of its caller; a dependency, so that FastAPI asks it before the route."""

    permission: Permission
    scope: Scope

    def __call__(self, request: Request) -> None:
        """Return if the caller may; else note the try, and raise what is answered."""
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
        """Return if the caller may.

        Raises:
            NotAllowed: it may not, and knows that there is such a thing.
            Refused: of the scope's kind: there is none that it may see.
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


def applying(caller: Caller) -> Callable[[str], None]:
    """Return what the service asks about the tables of a spec, and of the one before."""

    def check(table: str) -> None:
        if not caller.may(Permission.APPLY, table):
            raise NotAllowed(f"you may not apply a spec of the dataSource [{table}]")

    return check


def needs(permission: Permission, scope: Scope = CLUSTER) -> fastapi.params.Depends:
    """Declare what a route needs; exactly once in its `dependencies`."""
    return cast("fastapi.params.Depends", Depends(Needs(permission, scope)))


class Undeclared(Exception):
    """A route does not say what it needs: the API is not served."""


def needs_of(route: APIRoute) -> Needs:
    """Return what a route declares.

    Raises:
        Undeclared: nothing, or twice.
    """
    declarations = [
        each.dependency for each in route.dependencies if isinstance(each.dependency, Needs)
    ]
    if len(declarations) != 1:
        problem = "declares no permission" if not declarations else "declares several permissions"
        raise Undeclared(f"{sorted(route.methods or ())} {route.path} {problem}: see access.py")
    return declarations[0]


def api_routes(routes: Sequence[BaseRoute]) -> list[APIRoute]:
    """Return the routes that are ours; the description alone is FastAPI's own."""
    every = list(_flat(routes))
    ours = [route for route in every if isinstance(route, APIRoute)]
    others = [getattr(route, "path", "?") for route in every if not isinstance(route, APIRoute)]
    if others != ["/openapi.json"]:
        raise Undeclared(f"{others}: only /openapi.json needs no declaration, but a known caller")
    return ours


def _flat(routes: Iterable[BaseRoute]) -> Iterator[BaseRoute]:
    """Yield the routes themselves; newer FastAPI keeps an included router as one, in its place."""
    for route in routes:
        included: APIRouter | None = getattr(route, "original_router", None)
        if included is None:
            yield route
        else:
            yield from _flat(included.routes)


def open_paths(routes: Sequence[BaseRoute]) -> frozenset[str]:
    """Return the paths at which nobody is asked; every route has to declare what it needs.

    Raises:
        Undeclared: one does not.
    """
    declared = [(route.path_format, needs_of(route).permission) for route in api_routes(routes)]
    return frozenset(path for path, permission in declared if permission is Permission.OPEN)


def printable_route(request: Request) -> str:
    """Return the path as it may be written down: bounded, and without what is not printed."""
    path = request.url.path
    return "".join(sign for sign in path if sign.isprintable())[:200]


def secured(document: dict[str, object], routes: Sequence[BaseRoute]) -> dict[str, object]:
    """Tell in the description how callers prove who they are, and what each route needs."""
    components = cast("dict[str, object]", document["components"])
    components["securitySchemes"] = {
        "bearer": {"type": "http", "scheme": "bearer"},
        "basic": {"type": "http", "scheme": "basic"},
        "worker": {"type": "apiKey", "in": "header", "name": WORKERS_HEADER},
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
    return [{"bearer": []}, {"basic": []}]
