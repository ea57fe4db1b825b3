"""The versions of a supervisor's spec without the specs: who stored each, and what it changed."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query

from supervisor.api.http.access import SUPERVISOR, needs
from supervisor.api.http.deps import Asking, Parts
from supervisor.api.routes.cluster.audit import Cursor, Limit
from supervisor.core.values.permissions import Permission
from supervisor.services.supervisors.version_pages import version_lines_page
from supervisor.views.supervisors.specs import VersionLines

router = APIRouter(prefix="/api/v1/supervisors/{supervisor_id}", tags=["history"])


@router.get("/history", dependencies=[needs(Permission.READ, SUPERVISOR)])
def list_versions(
    supervisor_id: str,
    parts: Parts,
    asking: Asking,
    *,
    fields: Annotated[  # noqa: ARG001 -- specs are in Druid's history alone
        Literal["meta"], Query(description="What is shown of each version.")
    ] = "meta",
    limit: Limit = 100,
    cursor: Cursor = None,
) -> VersionLines:
    """List the versions of a spec with author, kind, operation and changed fields, newest first."""

    def may_read(table: str | None) -> bool:
        return asking.reads_all if table is None else asking.may_read(table)

    return version_lines_page(parts.store, supervisor_id, may_read, limit, cursor)
