"""`tidegate supervisor apply --dry-run` and `diff`: what a spec would do, without doing it."""

import json
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from pydantic import JsonValue

from supervisor.cli.answers import Lenient, SpecChange
from supervisor.cli.client import Client
from supervisor.cli.options import Output, Server, connect
from supervisor.cli.output import Format, say, show_json, show_table, show_text
from supervisor.cli.problems import FAILED, CommandFailed, ProblemAnswer
from supervisor.core.documents import parse_document
from supervisor.core.errors import FieldError, InvalidSpec
from supervisor.core.spec_reader import read_spec

VALIDATE = "/api/v1/supervisors/validate"
_REFUSED = 400
_SHOWN_MAX = 80


class Where(StrEnum):
    """Who judges a spec."""

    SERVER = "server"
    CLIENT = "client"


DryRun = Annotated[
    Where | None,
    typer.Option(
        "--dry-run",
        show_default=False,
        help="Change nothing: ask the server what it would do, or only read the spec here.",
    ),
]
File = Annotated[
    str, typer.Option("--file", "-f", metavar="FILE", help="The spec, JSON; - reads stdin.")
]


class Wrong(Lenient):
    """One thing that is wrong."""

    pointer: str = ""
    message: str = ""
    hint: str = ""


class Partition(Lenient):
    """What Kafka holds of one partition."""

    earliest: int
    latest: int


class Topic(Lenient):
    """One topic that the spec reads."""

    topic: str
    partitions: tuple[Partition, ...]


class Connection(Lenient):
    """Whether the topics can be read."""

    reachable: bool
    topics: tuple[Topic, ...] = ()
    error: str | None = None


class Verdict(Lenient):
    """What a spec would do."""

    id: str | None = None
    valid: bool
    errors: tuple[Wrong, ...] = ()
    warnings: tuple[str, ...] = ()
    connect: Connection | None = None
    exists: bool = False
    changes: tuple[SpecChange, ...] = ()
    restarts_what: str = ""


def dry_run(body: bytes, where: Where, server: str | None, output: Format) -> None:
    """Print what applying `body` would do.

    Raises:
        ProblemAnswer: it would be refused, with every reason.
    """
    if where is Where.CLIENT:
        _read_here(body, output)
        return
    with connect(server) as client:
        told, verdict = _asked(client, body, look=True)
    if output is Format.JSON:
        show_json(told)
        if not verdict.valid:
            raise typer.Exit(FAILED)
        return
    _refuse(verdict)
    for warning in verdict.warnings:
        say(f"warning: {warning}")
    _show_changes(verdict)
    if verdict.connect is not None:
        _show_connection(verdict.connect)
    show_text(f"{verdict.id} would be taken: {verdict.restarts_what}")


def diff(file: File, server: Server = None, output: Output = Format.TABLE) -> None:
    """Show what a spec would change; exit code 1 if it differs from the stored one, 0 if not."""
    with connect(server) as client:
        told, verdict = _asked(client, read_file(file), look=False)
    if verdict.valid and output is Format.JSON:
        show_json(told)
    else:
        _refuse(verdict)
        _show_changes(verdict)
    if not verdict.exists:
        say(f"{verdict.id} is not there: it would be made")
    elif verdict.changes:
        say(f"{verdict.id} differs: {verdict.restarts_what}")
    else:
        say(f"{verdict.id} is the same")
    if verdict.changes or not verdict.exists:
        raise typer.Exit(FAILED)


def read_file(file: str) -> bytes:
    """Return the bytes of a file, or of stdin for `-`.

    Raises:
        CommandFailed: it cannot be read.
    """
    if file == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise CommandFailed(f"{file} cannot be read: {error.strerror}") from error


def _read_here(body: bytes, output: Format) -> None:
    try:
        read = read_spec(parse_document(body))
    except InvalidSpec as error:
        raise _refused(error.errors) from error
    for warning in read.warnings:
        say(f"warning: {warning}")
    if output is Format.JSON:
        show_json(read.spec.normalised())
    else:
        show_text(f"{read.spec.id} is a good spec; no server was asked")


def _asked(client: Client, body: bytes, *, look: bool) -> tuple[object, Verdict]:
    answer = client.post(VALIDATE, body, {"connect": "true" if look else "false"})
    return answer.json(), answer.read(Verdict)


def _refuse(verdict: Verdict) -> None:
    if not verdict.valid:
        raise _refused([FieldError(e.pointer, e.message, e.hint) for e in verdict.errors])


def _refused(errors: Sequence[FieldError]) -> ProblemAnswer:
    title = "The spec is not acceptable"
    return ProblemAnswer(title, status=_REFUSED, title=title, errors=errors)


def _show_changes(verdict: Verdict) -> None:
    if verdict.changes:
        show_table(
            ("FIELD", "FROM", "TO", "EFFECT"),
            ((c.field, _short(c.old), _short(c.new), c.effect) for c in verdict.changes),
        )


def _show_connection(found: Connection) -> None:
    if not found.reachable:
        say(f"warning: {found.error}")
    for topic in found.topics:
        records = sum(p.latest - p.earliest for p in topic.partitions)
        say(f"topic {topic.topic}: {len(topic.partitions)} partitions, {records} offsets")


def _short(value: JsonValue) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN_MAX else f"{text[:_SHOWN_MAX]}..."
