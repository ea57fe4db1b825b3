"""The generated parts of docs/reference: `python -m scripts.reference` rewrites them.

A page holds, between two marks, what the code says; the rest of it is written by people:

    <!-- begin generated: settings -->
    ...
    <!-- end generated -->
"""

import json
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import assert_never

import typer
from pydantic import JsonValue
from typer.core import TyperCommand, TyperGroup

from scripts.meanings import rewrite_meanings
from supervisor.api.http.edge import EDGE_PROBLEMS
from supervisor.api.http.listeners import MISDIRECTED
from supervisor.api.http.problems import PROBLEMS
from supervisor.api.server import build_routes
from supervisor.cli.commands import app
from supervisor.cli.shell.names import NAMES, About, Nameless, Rows
from supervisor.core.flows.costs import STEP_COSTS
from supervisor.core.flows.json_schema import flow_schema
from supervisor.core.spec.json_schema import spec_schema
from supervisor.core.spec.section import (
    OURS,
    Alias,
    Declaration,
    Fixed,
    Holder,
    Ignored,
    Older,
    Other,
    Switched,
    Unsupported,
    all_parts,
    read_fields,
)
from supervisor.core.spec.sections.kafka_property_names import (
    FIELDS,
    FIXED,
    IDLE,
    JAAS,
    PROVIDER,
    SECRET_NAMES,
)
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.settings.settings import as_markdown, settings_table
from tasks.reporting.record import ReportRecord
from tasks.reporting.timings import TaskTimings
from tasks.rows.expression.functions.known import ABSENT, FUNCTIONS

FOLDER = Path("docs/reference")
SCHEMA = "supervisor-spec.schema.json"
FLOW_SCHEMA = "flow.schema.json"
RECORD_SCHEMA = "report-record.schema.json"
_DIALECT = "https://json-schema.org/draft/2020-12/schema"
WIDTH = 120
"""Characters of a line of text; tables and code cannot be wrapped."""
_BLOCK = re.compile(
    r"(<!-- begin generated: ([a-z-]+) -->\n).*?(<!-- end generated -->)", re.DOTALL
)
_HEADINGS = {
    "text": "texts",
    "formats": "texts",
    "bits": "numbers",
    "json": "nested data",
    "nested_json": "nested data",
    "time": "times",
    "moments": "times",
    "sizes": "numbers for people",
}
"""Modules of functions that are named otherwise on the page."""
_DESCRIPTION = {"/openapi.json": {"get": {"description": "Return the description of this API."}}}
"""The one route that the description does not have."""
_AS_IT_IS = "\b"
"""Begins a paragraph of a help text whose lines stay as they are."""
Row = Sequence[str]


def regenerated(text: str) -> str:
    """Return a page with every generated block as the code says today.

    Raises:
        KeyError: a block has a name that no generator has.
    """
    return _BLOCK.sub(lambda m: f"{m[1]}{GENERATORS[m[2]]()}{m[3]}", text)


def rewrite(folder: Path) -> list[Path]:
    """Rewrite the pages of `folder` and return those that have changed."""
    changed = []
    for page in sorted(folder.glob("*.md")):
        old = page.read_text(encoding="utf-8")
        new = regenerated(old)
        if new != old:
            page.write_text(new, encoding="utf-8")
            changed.append(page)
    return changed


def rewrite_schema(folder: Path) -> list[Path]:
    """Rewrite the JSON Schemas in `folder` and return those that have changed."""
    changed = []
    record = {"$schema": _DIALECT, **record_schema()}
    schemas = {SCHEMA: spec_schema(), FLOW_SCHEMA: flow_schema(), RECORD_SCHEMA: record}
    for name, schema in schemas.items():
        page, new = folder / name, json.dumps(schema, indent=1) + "\n"
        if not page.exists() or page.read_text(encoding="utf-8") != new:
            page.write_text(new, encoding="utf-8")
            changed.append(page)
    return changed


def record_schema() -> dict[str, JsonValue]:
    """Return the schema of a record; of a task it also says what the timings are."""
    schema: dict[str, JsonValue] = ReportRecord.model_json_schema()
    timings = TaskTimings.model_json_schema(ref_template="#/$defs/{model}")
    own, models = schema["$defs"], timings.pop("$defs")
    assert isinstance(own, dict)
    own |= {**models, TaskTimings.__name__: timings}
    kinds: JsonValue = ["task_result", "task_report", "progress"]
    of_tasks: JsonValue = {"type": {"enum": kinds}, "origin": {"const": "stream"}}
    has: JsonValue = {"timings": {"$ref": f"#/$defs/{TaskTimings.__name__}"}}
    schema["if"] = {"properties": of_tasks}
    schema["then"] = {"properties": {"payload": {"properties": has}}}
    return schema


def commands() -> Iterator[tuple[str, TyperCommand | TyperGroup]]:
    """Yield every command with its full name: `tidegate supervisor apply`."""
    root = typer.main.get_command(app)
    assert isinstance(root, TyperGroup)
    yield from _below("tidegate", root)


def _below(name: str, group: TyperGroup) -> Iterator[tuple[str, TyperCommand | TyperGroup]]:
    for part, found in group.commands.items():
        if isinstance(found, TyperGroup):
            if found.invoke_without_command:  # it is a command as well
                yield f"{name} {part}", found
            yield from _below(f"{name} {part}", found)
        else:
            assert isinstance(found, TyperCommand)
            yield f"{name} {part}", found


def _cli() -> str:
    return "".join(f"\n{_command(name, found)}" for name, found in commands()) + "\n"


def _command(name: str, command: TyperCommand | TyperGroup) -> str:
    context = command.make_context(name, [], resilient_parsing=True)
    params = [p for p in command.get_params(context) if p.name != "help"]
    records = [record for p in params if (record := p.get_help_record(context)) is not None]
    told = (command.help or "").split("\n\n")
    usage = " ".join([name, *command.collect_usage_pieces(context)])
    text = f"### {name}\n\n" + "".join(f"{_help_paragraph(part)}\n" for part in told)
    text += f"```text\n{usage}\n```\n"
    rows = [(f"`{_cell(option)}`", _cell(help_)) for option, help_ in records]
    return text + ("\n" + _table(("argument or option", "meaning"), rows) if rows else "")


def _help_paragraph(paragraph: str) -> str:
    """Return a paragraph of a help text; its line breaks count only behind a mark of click's."""
    if not paragraph.startswith(_AS_IT_IS):
        return _wrapped(" ".join(paragraph.split()))
    heading, *lines = paragraph.removeprefix(_AS_IT_IS).strip().splitlines()
    code = "\n".join(line.strip() for line in lines)
    return f"{heading}\n\n```bash\n{code}\n```\n"


def _wrapped(paragraph: str) -> str:
    return textwrap.fill(paragraph, WIDTH, break_on_hyphens=False) + "\n"


def _names() -> str:
    rows = []
    for verb, naming in NAMES.items():
        match naming:
            case Rows(columns, takes):
                rows.append((f"`{verb}`", _cell(" ".join(columns)), f"`{takes}`"))
            case Nameless(instead):
                rows.append((f"`{verb}`", "refused", f"nobody: {_cell(instead)}"))
            case About():
                pass  # it prints what it was given
            case _:
                assert_never(naming)
    return _table(("verb", "`-o name` prints", "which is taken by"), rows)


def _item(what: str, names: Iterable[str]) -> str:
    text = f"- {what}: {', '.join(names)}"
    fill = textwrap.fill(text, WIDTH, subsequent_indent="  ", break_on_hyphens=False)
    return f"{fill}\n"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _table(head: Row, rows: Sequence[Row]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _settings() -> str:
    return as_markdown(settings_table())


def _routes() -> str:
    rows = []
    paths = build_routes().openapi()["paths"]
    assert isinstance(paths, dict)
    for path, operations in sorted({**paths, **_DESCRIPTION}.items()):
        for method, operation in operations.items():
            first = str(operation["description"]).partition("\n")[0]
            rows.append((f"`{method.upper()}`", f"`{path}`", _cell(first)))
    return _table(("method", "path", "what it does"), rows)


def _problems() -> str:
    found = {p.slug: p for p in (*PROBLEMS.values(), *EDGE_PROBLEMS, MISDIRECTED)}
    rows = [(f"`{slug}`", str(p.status), p.title) for slug, p in sorted(found.items())]
    return _table(("slug", "status", "title"), rows)


def _sections() -> Iterator[tuple[str, Declaration]]:
    """Yield the parts of a spec, each with what the pages call it."""
    return ((each.title or part, each) for part, each in all_parts(SupervisorSpec).items())


def _unbuilt() -> str:
    rows = [
        (f"`{name}`", where, other.instead)
        for where, section in _sections()
        for name, other in section.others.items()
        if isinstance(other, Unsupported | Switched)
    ]
    return _table(("field", "of", "what to do instead"), rows)


def _fields() -> str:
    rows = []
    for where, section in _sections():
        cells = {name: _treatment(other) for name, other in section.others.items()}
        for name, field in read_fields(section).items():
            cells[name] = OURS.value if OURS in field.metadata else "built"
        rows += [(f"`{name}`", where, cells[name]) for name in sorted(cells)]
    return _table(("field", "of", "here"), rows)


def _treatment(other: Other) -> str:
    match other:
        case Ignored():
            return "accepted; another value than Druid's default warns"
        case Unsupported(instead):
            return f"refused: {instead}"
        case Switched(flag, instead):
            return f"refused if `{flag}` is true: {instead}"
        case Fixed(value):
            return f"`{value}` only"
        case Alias(of):
            return f"the same as `{of}`"
        case Older(read_as):
            return f"built: read as {read_as}"
        case Holder():
            return "built"
        case _:
            assert_never(other)


def _idle() -> str:
    text = ""
    for where, section in _sections():
        ignored = [name for name, other in section.others.items() if isinstance(other, Ignored)]
        text += _item(where, _code(ignored)) if ignored else ""
    return text


def _kafka() -> str:
    rows = (
        ("a value", _code(name for name in FIELDS if name not in SECRET_NAMES)),
        ("a secret, by reference only", _code(SECRET_NAMES)),
        ("where secrets lie", (f"`{PROVIDER}`", f"or the password in `{JAAS}`")),
        ("one value allowed", (f"`{name}` = `{value}`" for name, value in FIXED.items())),
        ("accepted, without effect", _code(sorted(IDLE))),
    )
    return "".join(_item(what, names) for what, names in rows)


def _functions() -> str:
    modules: dict[str, list[str]] = {}
    for function in FUNCTIONS.values():
        heading = (function.make.__module__).rpartition(".")[2]
        modules.setdefault(_HEADINGS.get(heading, heading), []).append(f"`{function.usage}`")
    return "".join(_item(heading, usages) for heading, usages in modules.items())


def _absent() -> str:
    rows = [(f"`{name}`", instead) for name, instead in sorted(ABSENT.items())]
    return _table(("function", "what to do instead"), rows)


def _code(names: Iterable[str]) -> Iterator[str]:
    return (f"`{name}`" for name in names)


def _costs() -> str:
    rows = [(f"`{kind}`", one.costs, one.repeats) for kind, one in STEP_COSTS.items()]
    return _table(("type", "what it costs", "a repeat of an attempt is safe, as"), rows)


GENERATORS: Mapping[str, Callable[[], str]] = MappingProxyType(
    {
        "commands": _cli,
        "names": _names,
        "settings": _settings,
        "routes": _routes,
        "problems": _problems,
        "not-built": _unbuilt,
        "druid-fields": _fields,
        "without-effect": _idle,
        "kafka-properties": _kafka,
        "functions": _functions,
        "absent-functions": _absent,
        "step-costs": _costs,
    }
)
"""Name of a block -> what stands in it."""


def main() -> int:
    """Rewrite the pages, and what the code has of them; say which files have changed."""
    for page in (*rewrite_meanings(), *rewrite(FOLDER), *rewrite_schema(FOLDER)):
        sys.stdout.write(f"{page}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
