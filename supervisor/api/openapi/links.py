"""OpenAPI links: values in answers that are parameters of other operations.

A link leads to every operation of the public API whose path takes exactly these parameters.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, cast

from supervisor.api.http.edge import INTERNAL_PATH

Json = dict[str, object]
_DRUID = "/druid/indexer/v1"
_OURS = "/api/v1"
_SUPERVISOR = f"{_DRUID}/supervisor"
_ONE = f"{_SUPERVISOR}/{{supervisor_id}}"
_PARAMETER = re.compile(r"{([a-z_]+)}")


class Source(NamedTuple):
    """An answer, and the places in it that hold path parameters."""

    method: str
    path: str
    parameters: Mapping[str, str]
    """Name in the path -> runtime expression.  Source: OpenAPI 3.1, 4.8.20."""


def _body(**pointers: str) -> dict[str, str]:
    return {name: f"$response.body#{pointer}" for name, pointer in pointers.items()}


_OPERATION = {"operation": "$response.header.Tidegate-Operation"}
_OPERATION_HEADER: Json = {
    "description": "The operation that shows when it is done; absent if there is nothing to do.",
    "schema": {"type": "string"},
}
SOURCES: Sequence[Source] = (
    Source("post", _SUPERVISOR, _body(supervisor_id="/id")),
    Source("get", _SUPERVISOR, _body(supervisor_id="/0")),
    Source("post", f"{_DRUID}/task", _body(task_id="/task")),
    Source("get", f"{_DRUID}/tasks", _body(task_id="/0/id")),
    Source("get", f"{_DRUID}/runningTasks", _body(task_id="/0/id")),
    Source("get", f"{_DRUID}/completeTasks", _body(task_id="/0/id")),
    Source("get", f"{_DRUID}/workers", _body(host="/0/worker/host")),
    Source("get", f"{_OURS}/datasources", _body(data_source="/dataSources/0")),
    Source(
        "post",
        f"{_OURS}/datasources/{{data_source}}/compact",
        _body(compaction="/compactions/0/id"),
    ),
    Source("get", f"{_OURS}/compactions", _body(compaction="/compactions/0/id")),
    Source("get", f"{_OURS}/operations", _body(operation="/operations/0/id")),
    Source("get", f"{_OURS}/queues", _body(container="/0/container", name="/0/name")),
    Source(
        "get",
        f"{_OURS}/queues/failed",
        _body(container="/failed/0/container", name="/failed/0/name", seq="/failed/0/seq"),
    ),
    *(
        Source("post", path, _OPERATION)
        for path in (
            _SUPERVISOR,
            f"{_OURS}/supervisors/{{supervisor_id}}/rollback",
            *(f"{_ONE}/{verb}" for verb in ("suspend", "resume", "terminate", "shutdown")),
            *(f"{_ONE}/{verb}" for verb in ("reset", "resetOffsets", "taskGroups/handoff")),
        )
    ),
)


def linked(document: Json) -> Json:
    """Add the links of answers to the document, in place."""
    paths = cast("dict[str, dict[str, Json]]", document["paths"])
    for source in SOURCES:
        responses = cast("dict[str, Json]", paths[source.path][source.method]["responses"])
        answer = next(body for status, body in responses.items() if status.startswith("2"))
        if source.parameters is _OPERATION:
            headers = cast("Json", answer.setdefault("headers", {}))
            headers["Tidegate-Operation"] = _OPERATION_HEADER
        links = cast("Json", answer.setdefault("links", {}))
        links.update(_links(paths, source))
    for operations in paths.values():
        for operation in operations.values():
            _link_pages(operation)
    return document


def _links(paths: Mapping[str, Mapping[str, Json]], source: Source) -> Iterator[tuple[str, Json]]:
    for path, operations in paths.items():
        if set(_PARAMETER.findall(path)) != set(source.parameters):
            continue
        if path.startswith(INTERNAL_PATH):
            continue
        for operation in operations.values():
            name = cast("str", operation["operationId"])
            yield name, {"operationId": name, "parameters": dict(source.parameters)}


def _link_pages(operation: Json) -> None:
    """Link a paged list to its next page."""
    parameters = cast("list[dict[str, str]]", operation.get("parameters", []))
    if not any(each["name"] == "cursor" for each in parameters):
        return
    given = {
        f"path.{p['name']}": f"$request.path.{p['name']}" for p in parameters if p["in"] == "path"
    }
    answer = cast("dict[str, Json]", operation["responses"])["200"]
    if _is_list(answer):  # the header Link names its next page
        return
    answer["links"] = {
        "next": {
            "operationId": operation["operationId"],
            "parameters": {**given, "query.cursor": "$response.body#/next"},
        }
    }


def _is_list(answer: Json) -> bool:
    content = cast("dict[str, dict[str, Json]]", answer.get("content", {}))
    return any(body.get("schema", {}).get("type") == "array" for body in content.values())
