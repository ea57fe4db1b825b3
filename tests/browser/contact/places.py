"""Every address of the console, from its own router: a page that is new is opened as well."""

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

_ROUTER = Path("supervisor/console/src/app/router.tsx")
_ROUTE = re.compile(r'getParentRoute: \(\) => (\w+),\s*path: "([^"]+)"')
_PARENTS = {
    "shell": "",
    "supervisor": "/supervisors/$id",
    "task": "/tasks/$task",
    "table": "/tables/$ds",
}
"""Parent of a route -> its own path; the pages of the frame `root` have no header."""


@dataclass(frozen=True)
class Names:
    """One thing of each kind that a page is of."""

    supervisor: str
    task: str
    table: str
    worker: str
    queue: tuple[str, str]
    flow: str
    execution: str


def every_address(names: Names) -> list[str]:
    """Return the address of every page and of every tab.

    Raises:
        AssertionError: a path has a variable that no name here is for.
    """
    root = Path(__file__).parents[3]
    routes = _ROUTE.findall((root / _ROUTER).read_text("utf-8"))
    paths = [_PARENTS[parent] + path for parent, path in routes if parent in _PARENTS]
    pages = [path for path in paths if path not in _PARENTS.values() and path.count("/") != 0]
    return [_filled(path, names) for path in pages if not _is_index(path)]


def _is_index(path: str) -> bool:
    return path != "/" and path.endswith("/")


def _filled(path: str, names: Names) -> str:
    container, queue = names.queue
    values = {
        "/supervisors/$id": f"/supervisors/{quote(names.supervisor)}",
        "/workers/$id": f"/workers/{quote(names.worker)}",
        "/tasks/$task": f"/tasks/{quote(names.task)}",
        "/tables/$ds": f"/tables/{quote(names.table)}",
        "/flows/$flow": f"/flows/{quote(names.flow)}",
        "/executions/$execution": f"/executions/{quote(names.execution)}",
        "/$container/$name": f"/{quote(container, safe='')}/{quote(queue, safe='')}",
    }
    for variable, value in values.items():
        path = path.replace(variable, value)
    assert "$" not in path, f"a page of what? {path}"
    return f"/ui{path}"
