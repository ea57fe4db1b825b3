"""Which modules decide: the planner, the judgement on publishing, a task's machine, and all parts.

The list is no list: it follows the imports, so that a rule that moves into a module of its own is
measured from then on.
"""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

ROOT = Path(__file__).parents[2]
ROOTS = (
    "supervisor.core.planning.plan",
    "supervisor.core.planning.publish",
    "tasks.machine.machine",
)
OTHERS: Mapping[str, str] = MappingProxyType(
    {
        "supervisor.core.values.permissions": "who may do what; a row has its author's form of it",
        "supervisor.core.values.errors": "texts for users; nothing is decided by them",
        "supervisor.core.queue.events": "rules of the queue; the planner has a row's form from it",
        "supervisor.core.spec.section": "what sections of documents declare",
        "supervisor.core.spec.sections.kafka_properties": "judges documents when they are posted",
        "supervisor.core.spec.spec": "reads documents; its own tests and the fuzz tests judge it",
        "supervisor.core.values.field_types": "reads documents",
        "supervisor.core.spec.sections.io_config": "reads documents",
        "tasks.contract.messages": "forms of messages, and how they are read from text",
        "tasks.contract.ingest_spec": "reads the part of a document that engines go by",
        "tasks.ports": "forms and protocols",
    }
)
"""Modules that the deciding ones import, at which the search ends -> why they are not measured."""


def deciding() -> list[str]:
    """Return the files to measure, relative to the root, sorted."""
    return sorted(str(_file(name).relative_to(ROOT)) for name in found_from(ROOTS) - OTHERS.keys())


def found_from(roots: tuple[str, ...]) -> set[str]:
    """Return these modules and all of ours that they import; those of `OTHERS` as ends."""
    modules: set[str] = set()
    left = list(roots)
    while left:
        name = left.pop()
        if name not in modules:
            modules.add(name)
            left += [] if name in OTHERS else _imports(name)
    return modules


def _imports(name: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(_file(name).read_text())):
        match node:
            case ast.Import(names=names):
                named = [alias.name for alias in names]
            case ast.ImportFrom(module=str(module), names=names):
                named = [module, *(f"{module}.{alias.name}" for alias in names)]
            case _:
                continue
        yield from (one for one in named if _file(one).is_file())


def _file(name: str) -> Path:
    return ROOT / Path(*name.split(".")).with_suffix(".py")
