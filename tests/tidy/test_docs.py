"""What the pages say is what the code does: links, commands, tables, defaults, widths."""

import json
import re
import shlex
from collections.abc import Iterator, Sequence
from enum import Enum
from pathlib import Path
from typing import cast

import pytest
import typer
from fastapi.routing import APIRoute
from typer.core import TyperCommand, TyperGroup

from scripts import meanings, reference
from supervisor.cli.commands import app
from supervisor.core.executions.states import AttemptState, ExecutionState, StepState
from supervisor.core.history.lifecycle_events import EventKind
from supervisor.core.model.rows import GenerationState, TaskStatus
from supervisor.core.planning.observed import Liveness
from supervisor.core.planning.states import State
from supervisor.core.spec.reader import read_spec
from supervisor.core.spec.section import Section, read_fields
from supervisor.core.spec.sections.data_schema import DataSchema, TimestampField
from supervisor.core.spec.sections.dimensions import DimensionsSpec
from supervisor.core.spec.sections.granularity import GranularitySpec
from supervisor.core.spec.sections.index import IndexSpec
from supervisor.core.spec.sections.io_config import KafkaIoConfig
from supervisor.core.spec.sections.tuning_config import TuningConfig
from supervisor.metadata.schema.tables import METADATA
from supervisor.settings.settings import Settings
from supervisor.verify.inventory import FileFindingKind, Place
from supervisor.verify.verdict import FindingKind, Verdict
from tasks.contract.messages import FailureCode, PublishOutcome, TaskPhase
from tasks.ingest.formats.reject_reasons import RejectReason
from tasks.ingest.write.rejects import SCHEMA
from tasks.worker.http.control_api import create_app
from tasks.worker.http.routes import add_worker_routes
from tasks.worker.reporting.task_logs import TaskLogs
from tasks.worker.roster import Roster
from tests.tidy.sources import ROOT, project_files

WIDTH_MAX = 130
PAGES = tuple(
    path
    for path in project_files()
    if path in {"README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"}
    or (path.startswith("docs/") and path.endswith(".md"))
)
REFERENCE = tuple(path for path in PAGES if path.startswith("docs/reference/"))
OWN_PAGES = tuple(
    path for path in PAGES if not path.startswith("docs/adr/") and path != "CHANGELOG.md"
)
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
_FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_SHELL = {"", "bash", "sh"}
_VARIABLE = re.compile(r"TIDEGATE_[A-Z][A-Z_]*[A-Z]")
_NO_SETTINGS = {
    "TIDEGATE_CONFIG",
    "TIDEGATE_DEBUG",
    "TIDEGATE_FAILPOINTS",
    "TIDEGATE_PROFILE",
    "TIDEGATE_REPORTS_KEY",
    "TIDEGATE_SECRET",
    "TIDEGATE_SECRET_KAFKA",
    "TIDEGATE_SECRET_KAFKA_FILE",
    "TIDEGATE_SECRET_KAFKA_FOR",
    "TIDEGATE_SECRET_X",
    "TIDEGATE_SECRET_X_FILE",
    "TIDEGATE_SECRET_KAFKA_KEY",
    "TIDEGATE_TEST_BROWSER",
    "TIDEGATE_TOKEN",
    "TIDEGATE_TEST_EXAMPLES",
    "TIDEGATE_TEST_AWAY_S",
    "TIDEGATE_TEST_KILLS",
    "TIDEGATE_TEST_RATE",
    "TIDEGATE_TEST_LOG_MIB",
    "TIDEGATE_TEST_RECORDS",
    "TIDEGATE_TEST_SPARK",
    "TIDEGATE_TESTS_LATE_AT",
}
_MINIMAL = {
    "type": "kafka",
    "spec": {
        "dataSchema": {"dataSource": "t", "timestampSpec": {}},
        "ioConfig": {
            "topic": "t",
            "consumerProperties": {"bootstrap.servers": "broker:9092"},
            "inputFormat": {"type": "json"},
        },
    },
}


def text_of(page: str) -> str:
    """Return a page's text."""
    return (ROOT / page).read_text(encoding="utf-8")


def broken_links(page: str, text: str) -> list[str]:
    """Return links to files, or to headings of pages, that are not there."""
    prose = _FENCE.sub("", text)
    broken = []
    for link in _LINK.findall(prose):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (ROOT / page).parent / path if path else ROOT / page
        if not target.exists() or (anchor and anchor not in _anchors(target)):
            broken.append(link)
    return broken


def _anchors(page: Path) -> set[str]:
    """Return a page's anchors: those that it gives, and of headings those that GitHub makes."""
    prose = _FENCE.sub("", page.read_text(encoding="utf-8"))
    heads = re.findall(r"^#+ (.+)$", prose, re.MULTILINE)
    given = set(re.findall(r'<a id="([\w-]+)"></a>', prose))
    return given | {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}


def tidegate_calls(text: str) -> Iterator[list[str]]:
    """Yield the words of each call of `tidegate` in the shell blocks of a page."""
    for _, language, block in _FENCE.findall(text):
        if language not in _SHELL:
            continue
        for line in block.replace("\\\n", " ").splitlines():
            words = _words(line)
            names = [n for n, word in enumerate(words) if Path(word).name == "tidegate"]
            if names and all("=" in word or "docker" in words for word in words[: names[0]]):
                yield words[names[0] + 1 :]


def _words(line: str) -> list[str]:
    try:
        words = shlex.split(line, comments=True)
    except ValueError:
        return []  # a picture, or prose
    return words[: next((n for n, w in enumerate(words) if w in {">", "|", "&&"}), len(words))]


def wrong_with(call: Sequence[str]) -> str:
    """Return why `tidegate` would not take these words; empty if it would."""
    command: object = typer.main.get_command(app)
    words, name = list(call), "tidegate"
    while isinstance(command, TyperGroup) and words and not words[0].startswith("-"):
        name = f"{name} {words[0]}"
        command = command.commands.get(words.pop(0))
    if isinstance(command, TyperGroup):
        known = {option for param in command.params for option in param.opts} | {"--help"}
        return "" if set(words) & known else f"{name}: names no command"
    if not isinstance(command, TyperCommand):
        return f"{name}: there is no such command"
    if "--help" in words:
        return ""
    context = command.make_context(name, [], resilient_parsing=True)
    try:
        command.parse_args(type(context)(command, info_name=name), words)
    except Exception as error:  # noqa: BLE001 -- of typer's own copy of click
        return f"{name}: {error}"
    return ""


def columns(text: str, heading: str, number: int = 0) -> list[tuple[str, ...]]:
    """Return the rows of the `number`-th table below a heading, without back-quotes."""
    below = re.split(rf"^#+ {re.escape(heading)}$", text, maxsplit=1, flags=re.MULTILINE)[1]
    below = re.split(r"^#+ ", below, maxsplit=1, flags=re.MULTILINE)[0]
    found = re.findall(r"(?:^\|.*\n)+", below, re.MULTILINE)[number]
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in found.splitlines()[2:]]
    return [tuple(cell.strip().replace("`", "") for cell in row) for row in rows]


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_somewhere(page: str) -> None:
    assert not broken_links(page, text_of(page))


def test_a_broken_link_is_caught() -> None:
    text = "[a](docs/glossary.md) [b](docs/no.md) [c](docs/glossary.md#no) [d](https://x.y/z)"

    assert broken_links("README.md", text) == ["docs/no.md", "docs/glossary.md#no"]


@pytest.mark.parametrize("page", PAGES)
def test_every_command_of_a_page_is_taken(page: str) -> None:
    found = [(call, why) for call in tidegate_calls(text_of(page)) if (why := wrong_with(call))]

    assert not found


def test_commands_are_found_in_the_pages() -> None:
    assert sum(1 for page in PAGES for _ in tidegate_calls(text_of(page))) > 20


@pytest.mark.parametrize(
    "line",
    ["tidegate supervizor list", "tidegate query", "tidegate verify a --strikt", "tidegate task"],
)
def test_a_command_that_is_not_taken_is_caught(line: str) -> None:
    [call] = tidegate_calls(f"```bash\n{line}\n```\n")

    assert wrong_with(call)


@pytest.mark.parametrize("page", REFERENCE)
def test_the_generated_parts_are_up_to_date(page: str) -> None:
    text = text_of(page)

    assert reference.regenerated(text) == text, "run: python -m scripts.reference"


def test_the_json_schemas_are_up_to_date(tmp_path: Path) -> None:
    pages = reference.rewrite_schema(tmp_path)

    assert len(pages) == 3
    for page in pages:
        assert text_of(f"docs/reference/{page.name}") == page.read_text(encoding="utf-8")
    assert reference.rewrite_schema(tmp_path) == []


def test_the_meanings_of_fields_in_the_code_are_those_of_the_page() -> None:
    page, module = text_of(str(meanings.PAGE)), ROOT / meanings.MODULE

    assert meanings.module_of(page) == module.read_text(encoding="utf-8"), "run scripts.reference"


def test_a_stale_generated_part_is_caught_and_mended(tmp_path: Path) -> None:
    text = text_of("docs/reference/settings.md")
    page = tmp_path / "settings.md"
    page.write_text(text.replace("`TIDEGATE_HOST`", "`TIDEGATE_GUEST`"), encoding="utf-8")

    assert reference.rewrite(tmp_path) == [page]
    assert "`TIDEGATE_HOST` |" in page.read_text(encoding="utf-8")
    assert reference.rewrite(tmp_path) == []


def test_each_generator_has_its_place_and_its_page_says_how_to_run_it() -> None:
    placed = {}
    for page in REFERENCE:
        for name in re.findall(r"<!-- begin generated: ([a-z-]+) -->", text_of(page)):
            placed[name] = text_of(page).partition("\n")[0]

    assert placed.keys() == reference.GENERATORS.keys()
    assert all("python -m scripts.reference" in first for first in placed.values())


@pytest.mark.parametrize(
    ("heading", "number", "kind"),
    [
        ("Supervisor: `state`", 0, State),
        ("Generation", 0, GenerationState),
        ("Task", 0, TaskStatus),
        ("Task", 1, TaskPhase),
        ("Task", 2, FailureCode),
        ("Publish", 0, PublishOutcome),
        ("Worker, as the leader sees it", 0, Liveness),
        ("Execution", 0, ExecutionState),
        ("Task run", 0, StepState),
        ("Attempt", 0, AttemptState),
        ("Verdict of `tidegate verify`", 0, Verdict),
        ("Verdict of `tidegate verify`", 1, FindingKind),
        ("Verdict of `tidegate verify --files`", 0, Place),
        ("Verdict of `tidegate verify --files`", 1, FileFindingKind),
    ],
)
def test_states_are_those_of_the_code(heading: str, number: int, kind: type[Enum]) -> None:
    rows = columns(text_of("docs/reference/states.md"), heading, number)

    assert [row[0] for row in rows] == [each.value for each in kind]


def test_details_are_those_of_the_code() -> None:
    rows = columns(text_of("docs/reference/states.md"), "Supervisor: `detailedState`")
    code = (ROOT / "supervisor/core/planning/states.py").read_text(encoding="utf-8")
    words = set(re.findall(r'"([A-Z]+(?:_[A-Z]+)+)"', code)) - {s.value for s in State}

    assert {row[0] for row in rows} == words


@pytest.mark.parametrize(
    ("heading", "names"),
    [
        ("Rejects files", [field.name for field in SCHEMA]),
        ("Metadata database", list(METADATA.tables)),
    ],
)
def test_storage_is_that_of_the_code(heading: str, names: list[str]) -> None:
    rows = columns(text_of("docs/reference/storage.md"), heading)

    assert sorted(row[0] for row in rows) == sorted(names)


def test_events_are_those_of_the_code() -> None:
    rows = columns(text_of("docs/reference/events.md"), "Types")

    assert [row[0] for row in rows] == [kind.value for kind in EventKind]


def test_reasons_of_rejects_are_those_of_the_code() -> None:
    rows = columns(text_of("docs/reference/storage.md"), "Rejects files", 1)

    assert [row[0] for row in rows] == [reason.value for reason in RejectReason]


@pytest.mark.parametrize(
    ("heading", "declared", "place"),
    [
        ("timestampSpec", TimestampField, ("dataSchema", "timestampSpec")),
        ("dimensionsSpec", DimensionsSpec, ("dataSchema", "dimensionsSpec")),
        ("granularitySpec", GranularitySpec, ("dataSchema", "granularitySpec")),
        ("dataSchema", DataSchema, ("dataSchema",)),
        ("ioConfig", KafkaIoConfig, ("ioConfig",)),
        ("tuningConfig", TuningConfig, ("tuningConfig",)),
        ("indexSpec", IndexSpec, ("tuningConfig", "indexSpec")),
    ],
)
def test_spec_fields_and_their_defaults_are_those_of_the_code(
    heading: str, declared: type[Section], place: tuple[str, ...]
) -> None:
    section: object = read_spec(_MINIMAL).spec.normalised()["spec"]
    for part in place:
        assert isinstance(section, dict)
        section = section[part]
    assert isinstance(section, dict)

    rows = columns(text_of("docs/reference/spec.md"), heading)

    assert {row[0] for row in rows} == read_fields(declared).keys()
    for name, default, *_ in rows:
        if default != "required" and heading != "dataSchema":
            assert json.loads(default) == section[name], name


def test_the_spec_of_the_reference_is_accepted_without_a_warning() -> None:
    [example] = [b for _, kind, b in _FENCE.findall(text_of("docs/reference/spec.md")) if kind]

    assert read_spec(json.loads(example)).warnings == ()


@pytest.mark.parametrize("page", PAGES)
def test_a_variable_that_a_page_names_is_a_setting(page: str) -> None:
    known = {f"TIDEGATE_{name.upper()}" for name in Settings.model_fields} | _NO_SETTINGS

    assert set(_VARIABLE.findall(text_of(page))) <= known


def test_the_page_of_the_api_has_the_worker_s_routes() -> None:
    app = create_app(cast("Roster", None), threads_max=1)
    add_worker_routes(app, cast("Roster", None), cast("TaskLogs", None), "localhost:8091")
    routes = [route for route in app.routes if isinstance(route, APIRoute)]
    served = {f"{method} {route.path}" for route in routes for method in route.methods or ()}

    section = text_of("docs/reference/api.md").partition("## The worker's control API")[2]
    listed = re.findall(r"^\| `([A-Z]+)` \| `(/[^`]+)` \|", section, re.MULTILINE)

    assert sorted(f"{method} {path}" for method, path in listed) == sorted(served)


@pytest.mark.parametrize("page", OWN_PAGES)
def test_lines_are_not_too_wide(page: str) -> None:
    prose = _FENCE.sub("", text_of(page))
    wide = [line for line in prose.splitlines() if len(line) > WIDTH_MAX]

    assert not [line for line in wide if not line.startswith("|")]
