"""Routes of exported tables: their states, and code snippets that read a table."""

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Request

from supervisor.api.http.access import DATA_SOURCE, LISTED, needs
from supervisor.api.http.deps import Asking, Parts
from supervisor.core.tables.snippets import FORMAT_OF, Reader, snippet
from supervisor.core.values.errors import NotExported
from supervisor.core.values.permissions import Permission
from supervisor.views.tables.exports import ExportList, Snippet, Snippets

router = APIRouter(prefix="/api/v1", tags=["tables"])


@router.get("/exports", dependencies=[needs(Permission.READ, LISTED)])
def list_exports(parts: Parts, asking: Asking) -> ExportList:
    """List the exports of all tables with their states."""
    found = parts.tables.exports()
    return ExportList(exports=[row for row in found if asking.may_read(row.data_source)])


@router.get(
    "/datasources/{data_source}/exports", dependencies=[needs(Permission.READ, DATA_SOURCE)]
)
def list_exports_of(data_source: str, parts: Parts) -> ExportList:
    """List the exports of a table with their states."""
    return ExportList(exports=parts.tables.exports(data_source))


@router.get(
    "/datasources/{data_source}/snippets", dependencies=[needs(Permission.READ, DATA_SOURCE)]
)
def list_snippets(
    data_source: str,
    parts: Parts,
    asking: Asking,
    request: Request,
    reader: Annotated[Reader | None, Query(description="Only for this one.")] = None,
) -> Snippets:
    """Return code that reads a table."""
    exports = parts.tables.exports(data_source)
    there = {export.format for export in exports if export.location is not None}
    usable = [each for each in Reader if each not in FORMAT_OF or FORMAT_OF[each] in there]
    if reader is not None:
        if reader not in usable:
            raise NotExported(data_source, FORMAT_OF[reader])
        usable = [reader]
    overlord = str(request.base_url).rstrip("/")
    known = not asking.is_anyone
    write = partial(snippet, with_token=known, warehouse=parts.tables.warehouse)
    snippets = [Snippet(reader=each, code=write(each, data_source, overlord)) for each in usable]
    return Snippets(data_source=data_source, snippets=snippets)
