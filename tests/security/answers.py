"""Everything that an overlord answers to GET, to be searched."""

from collections.abc import Mapping, Sequence

import httpx

from tests.integration.cluster import Cluster

__all__ = ["all_answers", "answers_of"]

_SKIPPED = {"/openapi.json"}
_TASKS_MAX = 8
_REPORTS_MAX = 50


def all_answers(cluster: Cluster, supervisors: Sequence[str]) -> dict[str, bytes]:
    """Ask each route, of each name that is known; supervisors are named as their tables."""
    tasks = [str(task["id"]) for name in supervisors for task in cluster.tasks(name)]
    names = {
        "supervisor_id": list(supervisors),
        "data_source": list(supervisors),
        "task_id": tasks[:_TASKS_MAX],
        "record_id": _report_ids(cluster),
        "worker": [name for name in cluster.children if name != "overlord"],
    }
    return answers_of(cluster.http, names)


def answers_of(http: httpx.Client, names: Mapping[str, Sequence[str]]) -> dict[str, bytes]:
    """Ask each route of an overlord; `names`: what may be in place of each part of a path."""
    paths = http.get("/openapi.json").json()["paths"]
    answers = {}
    for path, operations in paths.items():
        if "get" not in operations or path in _SKIPPED or "stream" in path:
            continue
        for filled in _filled(path, names):
            answer = http.get(filled)
            answers[f"GET {filled}"] = answer.content + str(answer.headers).encode()
    assert len(answers) > 20, "hardly anything was asked"
    return answers


def _report_ids(cluster: Cluster) -> list[str]:
    """Return the ids of some stored reports; none where nothing is stored."""
    answer = cluster.http.get("/api/v1/reports", params={"limit": _REPORTS_MAX})
    return [each["id"] for each in answer.json().get("reports", ())]


def _filled(path: str, names: Mapping[str, Sequence[str]]) -> list[str]:
    filled = [path]
    for name, values in names.items():
        if f"{{{name}}}" in path:
            filled = [one.replace(f"{{{name}}}", value) for one in filled for value in values]
    return [one for one in filled if "{" not in one]
