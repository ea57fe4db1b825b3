"""Routes of executions: started, listed, looked at, killed, paused, answered."""

import hashlib
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from pydantic import Field, JsonValue, StringConstraints

from supervisor.api.http.access import needs
from supervisor.api.http.deps import Author, Parts
from supervisor.api.http.windows import From, To, check_times
from supervisor.api.routes.cluster.audit import Limit
from supervisor.api.routes.flows.flows import FLOW_NAME, FlowName
from supervisor.core.executions.states import ExecutionState
from supervisor.core.flows.artifacts import ARTIFACT_ID, ArtifactForm
from supervisor.core.values.page_cursors import KEYED_LENGTH_MAX
from supervisor.core.values.permissions import Caller, Permission
from supervisor.ports.flows.executions import ExecutionQuery
from supervisor.services.flows.executions import StartRequest
from supervisor.views.flows.executions import (
    ExecutionEventsPage,
    ExecutionPage,
    ExecutionView,
    event_view,
    execution_view,
    line_view,
)
from supervisor.views.flows.graph import ExecutionGraph, graph_view
from tasks.contract.wire import Wire

router = APIRouter(prefix="/api/v1", tags=["flows"])

EXECUTION_ID = r"^[A-Za-z0-9][A-Za-z0-9._:~-]{0,299}$"
ExecutionId = Annotated[str, Path(pattern=EXECUTION_ID, description="Id of an execution.")]
CallerKey = Annotated[str, Field(strict=True, pattern=r"^[A-Za-z0-9][A-Za-z0-9._~-]{0,127}$")]
RunId = Annotated[str, Path(pattern=r"^[0-9a-f]{1,64}$", description="Id of a task run.")]
Cursor = Annotated[
    str | None,
    Query(
        description="The `next` of the page before.",
        json_schema_extra={"pattern": f"^[A-Za-z0-9_-]{{1,{KEYED_LENGTH_MAX}}}$"},
    ),
]


Label = Annotated[str, StringConstraints(pattern=r"^[^:\x00]{1,100}:[^\x00]{0,300}$")]

LabelName = Annotated[str, StringConstraints(pattern=r"^[^:\x00]{1,100}$")]
LabelValue = Annotated[str, StringConstraints(pattern=r"^[^\x00]{0,300}$")]

WithLabels = Annotated[
    list[Label] | None,
    Query(description="With this label, as `name:value`; may be repeated.", max_length=10),
]
StartedBy = Annotated[
    str | None,
    Query(
        alias="startedBy",
        pattern=r"^[a-z]{1,40}$",
        description="By a trigger of this type, as `request` or `schedule`; or by `subflow`, "
        "`rerun`.",
    ),
]
ByTrigger = Annotated[
    str | None,
    Query(
        pattern=r"^[A-Za-z][A-Za-z0-9_]{0,63}$",
        description="By the trigger of this name; with `flow` by that of this flow.",
    ),
]
InError = Annotated[
    str | None,
    Query(
        min_length=1,
        max_length=200,
        description="With this text in its error, within the first 300 characters.",
    ),
]

_TYPES = {
    ArtifactForm.JSON: "application/json",
    ArtifactForm.TEXT: "text/plain; charset=utf-8",
}
_ENDINGS = {ArtifactForm.JSON: "json", ArtifactForm.TEXT: "txt"}


class StartDocument(Wire):
    """An execution to start."""

    inputs: dict[str, JsonValue] = Field(default_factory=dict)
    key: CallerKey | None = None
    """Of your own: a repeat with it finds the execution."""
    labels: dict[LabelName, LabelValue] = Field(default_factory=dict, max_length=50)


def _key_of(request: Request) -> str | None:
    """Return a key that follows from the header Idempotency-Key and its caller."""
    header = request.headers.get("Idempotency-Key")
    if header is None:
        return None
    caller: Caller = request.state.caller
    digest = hashlib.blake2b(f"{caller.name}\x1f{header}".encode(), digest_size=16)
    return f"k-{digest.hexdigest()}"


HeaderKey = Annotated[str | None, Depends(_key_of)]
"""Answers to keys are kept for a day; an execution remembers its key for as long as it is kept."""


class AnswerDocument(Wire):
    """The answer to an `approve` step."""

    yes: bool
    comment: Annotated[str, Field(max_length=1_000)] = ""


@router.post(
    "/flows/{flow}/executions",
    status_code=202,
    responses={200: {"model": ExecutionView, "description": "One with this key is there."}},
    dependencies=[needs(Permission.FLOW_RUN)],
)
def start_execution(
    flow: FlowName,
    wanted: StartDocument,
    header: HeaderKey,
    author: Author,
    parts: Parts,
    *,
    response: Response,
) -> ExecutionView:
    """Start an execution of a flow's newest version; 200: one with this key is there."""
    request = StartRequest(flow, wanted.inputs, wanted.key or header, wanted.labels)
    execution, is_new = parts.executions.start(request, author)
    if not is_new:
        response.status_code = 200
    return execution_view(execution)


@router.get("/executions", dependencies=[needs(Permission.READ)])
def list_executions(
    parts: Parts,
    *,
    flow: Annotated[str | None, Query(pattern=FLOW_NAME, description="Of this flow.")] = None,
    state: Annotated[
        list[ExecutionState] | None, Query(description="In one of these states.")
    ] = None,
    parent: Annotated[
        str | None, Query(pattern=EXECUTION_ID, description="Started by this execution.")
    ] = None,
    label: WithLabels = None,
    started_by: StartedBy = None,
    trigger: ByTrigger = None,
    error: InError = None,
    begin: From = None,
    end: To = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> ExecutionPage:
    """List executions, newest first."""
    check_times(begin=begin, end=end)
    wanted = ExecutionQuery(
        flow,
        None if state is None else frozenset(state),
        parent,
        begin,
        end,
        labels=tuple(_label(each) for each in label or ()),
        started_by=started_by,
        trigger=trigger,
        error=error,
    )
    page, behind = parts.executions.listed(wanted, limit, cursor)
    return ExecutionPage(executions=[line_view(each) for each in page], next=behind)


def _label(text: str) -> tuple[str, str]:
    name, _, value = text.partition(":")
    return name, value


@router.get("/executions/{execution}", dependencies=[needs(Permission.READ)])
def get_execution(execution: ExecutionId, parts: Parts) -> ExecutionView:
    """Return an execution with its task runs, and what it waits for and since when."""
    current = parts.executions.get(execution)
    executions = parts.executions
    unsent_since = executions.unsent_since(execution)
    return execution_view(current, executions.gate_of(current), unsent_since)


@router.get("/executions/{execution}/graph", dependencies=[needs(Permission.READ)])
def get_execution_graph(execution: ExecutionId, parts: Parts) -> ExecutionGraph:
    """Return an execution as a picture: its steps with states and times, and what is after what."""
    return graph_view(parts.executions.get(execution))


@router.get(
    "/executions/{execution}/artifacts/{artifact}",
    dependencies=[needs(Permission.READ)],
    response_class=Response,
    responses={200: {"content": {"application/json": {}, "text/plain": {}}}},
)
def get_execution_artifact(
    execution: ExecutionId,
    artifact: Annotated[str, Path(pattern=ARTIFACT_ID, description="Id of an artifact.")],
    parts: Parts,
) -> Response:
    """Return an output that is too large for its record: JSON, or the text that it is."""
    kept = parts.executions.artifact(execution, artifact)
    # A page of another server is shown as letters, and by no browser as a page of this one.
    headers = {
        "Content-Disposition": f'attachment; filename="{kept.ref.id}.{_ENDINGS[kept.form]}"',
        "ETag": f'"{kept.ref.sha256}"',
        "X-Content-Type-Options": "nosniff",
    }
    return Response(kept.body, media_type=_TYPES[kept.form], headers=headers)


@router.get("/executions/{execution}/events", dependencies=[needs(Permission.READ)])
def list_execution_events(
    execution: ExecutionId,
    parts: Parts,
    after: Annotated[int, Query(ge=0, le=2**53, description="Behind this number.")] = 0,
    limit: Limit = 100,
) -> ExecutionEventsPage:
    """List what has happened to an execution, in order."""
    events = parts.executions.events(execution, after, limit)
    behind = events[-1].number if len(events) == limit else None
    return ExecutionEventsPage(events=[event_view(each) for each in events], next=behind)


@router.post("/executions/{execution}/kill", dependencies=[needs(Permission.FLOW_RUN)])
def kill_execution(
    execution: ExecutionId,
    author: Author,
    parts: Parts,
    *,
    force: Annotated[
        bool, Query(description="Do not wait for what runs, and begin no `finally` step.")
    ] = False,
) -> ExecutionView:
    """End an execution; of one that has ended nothing is changed."""
    return execution_view(parts.executions.kill(execution, author, force=force))


@router.post("/executions/{execution}/pause", dependencies=[needs(Permission.FLOW_RUN)])
def pause_execution(execution: ExecutionId, author: Author, parts: Parts) -> ExecutionView:
    """Let no further step begin; what runs ends."""
    return execution_view(parts.executions.pause(execution, author))


@router.post("/executions/{execution}/resume", dependencies=[needs(Permission.FLOW_RUN)])
def resume_execution(execution: ExecutionId, author: Author, parts: Parts) -> ExecutionView:
    """Let a paused execution go on."""
    return execution_view(parts.executions.resume(execution, author))


@router.post("/executions/{execution}/runs/{run}/retry", dependencies=[needs(Permission.FLOW_RUN)])
def retry_step(execution: ExecutionId, run: RunId, author: Author, parts: Parts) -> ExecutionView:
    """Try a step again, now."""
    return execution_view(parts.executions.retry(execution, run, author))


@router.post("/executions/{execution}/runs/{run}/skip", dependencies=[needs(Permission.FLOW_RUN)])
def skip_step(execution: ExecutionId, run: RunId, author: Author, parts: Parts) -> ExecutionView:
    """Go on without a step that waits for a person."""
    return execution_view(parts.executions.skip(execution, run, author))


@router.post(
    "/executions/{execution}/runs/{run}/answer", dependencies=[needs(Permission.FLOW_APPROVE)]
)
def answer_step(
    execution: ExecutionId, run: RunId, answer: AnswerDocument, author: Author, parts: Parts
) -> ExecutionView:
    """Answer what an `approve` step wants to know."""
    return execution_view(
        parts.executions.answer(execution, run, author, yes=answer.yes, comment=answer.comment)
    )
