"""The help of every verb: defaults are told, examples stand as they are typed, one name each."""

import json
import re
from collections.abc import Iterator

import pytest
from pydantic import JsonValue
from typer.core import TyperCommand, TyperGroup

from scripts.reference import commands
from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.overlord import Overlord, Reply

VERBS = dict(commands())
OLD = ("--datasource", "--max", "--count", "--rows")


@pytest.mark.parametrize("verb", VERBS)
def test_what_may_be_left_out_tells_what_happens_then(verb: str) -> None:
    assert list(_silent(verb, VERBS[verb])) == []


def _silent(verb: str, command: TyperCommand | TyperGroup) -> Iterator[str]:
    """Yield what may be left out, takes a value, and does not tell its default."""
    context = command.make_context(verb, [], resilient_parsing=True)
    for param in command.get_params(context):
        record = param.get_help_record(context)
        flag = getattr(param, "is_flag", False)
        if record is None or param.required or flag:
            continue
        if "[default: " not in record[1]:
            yield f"{param.opts}: {record[1]}"


@pytest.mark.parametrize("verb", VERBS)
def test_an_example_stands_on_a_line_as_it_is_typed(tidegate: Tidegate, verb: str) -> None:
    words = verb.split()[1:]
    printed = {line.strip() for line in tidegate(*words, "--help").out.splitlines()}

    for example in _examples(VERBS[verb].help or ""):
        assert printed & {example, f"Example: {example}"}, example


def _examples(text: str) -> Iterator[str]:
    for paragraph in text.replace("\b", "").split("\n\n"):
        match = re.match(r"\s*Examples?:(.*)", paragraph, re.DOTALL)
        if match is not None:
            yield from (line.strip() for line in match[1].splitlines() if line.strip())
        else:
            assert "\ntidegate " not in f"\n{paragraph.strip()}", "an example outside of Examples"


@pytest.mark.parametrize("verb", VERBS)
def test_help_shows_no_old_name(tidegate: Tidegate, verb: str) -> None:
    words = verb.split()[1:]
    shown = re.findall(r"--[a-z-]+", tidegate(*words, "--help").out)

    assert not set(shown) & set(OLD)


@pytest.mark.parametrize(
    ("path", "old", "query"),
    [
        (
            "/druid/indexer/v1/tasks",
            ("task", "list", "--datasource", "t", "--max=7"),
            {"datasource": ["t"], "max": ["7"]},
        ),
        ("/api/v1/compactions", ("compaction", "list", "--max", "7"), {"limit": ["7"]}),
        (
            "/druid/indexer/v1/supervisor/t/history",
            ("supervisor", "history", "t", "--count", "7"),
            {"count": ["7"]},
        ),
    ],
)
def test_old_names_of_options_go_on_working(
    tidegate: Tidegate, server: Overlord, path: str, old: tuple[str, ...], query: object
) -> None:
    pages: dict[str, JsonValue] = {"/api/v1/compactions": {"compactions": [], "next": None}}
    server.on("GET", path, Reply(pages.get(path, [])))

    ended = tidegate(*old)

    assert (ended.code, server.requests[-1].query) == (0, query)


def test_the_old_name_of_a_samples_limit_goes_on_working(
    tidegate: Tidegate, server: Overlord
) -> None:
    server.on("GET", "/druid/indexer/v1/supervisor/t", Reply({}))
    reply = Reply({"numRowsRead": 0, "numRowsIndexed": 0})
    server.on("POST", "/druid/indexer/v1/sampler", reply)

    assert tidegate("supervisor", "sample", "t", "--rows", "7").code == 0
    assert json.loads(server.requests[-1].body)["samplerConfig"]["numRows"] == 7


def test_an_old_name_is_no_name_of_a_supervisor(tidegate: Tidegate, server: Overlord) -> None:
    """Goal: only options are renamed, never what is given to them."""
    server.on("GET", "/druid/indexer/v1/supervisor/max/health", Reply({"healthy": True}))

    assert tidegate("supervisor", "health", "max").out == "max is healthy\n"
