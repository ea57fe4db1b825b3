"""`tidegate supervisor apply --dry-run` and `diff`: preview the effects of a spec."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated

import typer

from supervisor.cli.shell.client import Client
from supervisor.cli.shell.form import Format
from supervisor.cli.shell.many import each, show_each
from supervisor.cli.shell.options import Output, Server, connect
from supervisor.cli.shell.output import (
    print_notice,
    short_json,
    show_json,
    show_name,
    show_table,
)
from supervisor.cli.shell.problems import FAILED, CommandFailed, ProblemAnswer
from supervisor.cli.supervisor.spec_files import SpecFile, read_one
from supervisor.core.spec.reader import read_spec
from supervisor.core.values.errors import FieldError, InvalidSpec
from supervisor.core.values.json_bodies import parse_document
from supervisor.views.supervisors.dry_run import Connection, DryRunView

VALIDATE = "/api/v1/supervisors/validate"
_REFUSED = 400


class Where(StrEnum):
    """The place where a spec is checked."""

    SERVER = "server"
    CLIENT = "client"


DryRun = Annotated[
    Where | None,
    typer.Option(
        "--dry-run",
        show_default="it is applied",
        help="Change nothing: ask the overlord what it would do, or only read the spec here.",
    ),
]
File = Annotated[
    str,
    typer.Option("--file", "-f", metavar="FILE", help="The spec, JSON or YAML; - reads stdin."),
]


def dry_run(
    specs: Sequence[SpecFile],
    where: Where,
    server: str | None,
    output: Format,
    *,
    headers: Mapping[str, str],
) -> None:
    """Print the effects that applying each spec would have; exit code 1 if one would be refused.

    `headers`: the headers of the POST that would apply the spec.
    """
    alone = len(specs) == 1
    named = {spec.name: spec for spec in specs}
    judging = _Judging(output, headers, alone=alone)
    if where is Where.CLIENT:
        tried = each(named, lambda name: judging.here(named[name]), alone=alone)
    else:
        with connect(server) as client:
            tried = each(named, lambda name: judging.there(client, named[name]), alone=alone)
    show_each(tried, output, alone=alone, ids=judging.ids)
    if judging.refused:  # the errors are in the JSON answers
        raise typer.Exit(FAILED)


@dataclass
class _Judging:
    """Checks one spec after the other; prints at once what is not part of the table."""

    output: Format
    headers: Mapping[str, str]
    alone: bool
    ids: dict[str, str] = field(default_factory=dict)
    """File -> id of the supervisor in its spec."""
    refused: bool = False

    def here(self, file: SpecFile) -> tuple[object, str]:
        try:
            read = read_spec(parse_document(_body(file)))
        except InvalidSpec as error:
            raise _refused(error.errors) from error
        self._show_warnings(file, read.spec.id, read.warnings)
        message = f"{read.spec.id} is a good spec; no server was asked"
        return read.spec.normalised(), message

    def there(self, client: Client, file: SpecFile) -> tuple[object, str]:
        document, verdict = _validate(client, _body(file), look=True, headers=self.headers)
        if self.output is Format.JSON:
            self.refused |= not verdict.valid
            return document, ""
        _refuse(verdict)
        self._show_warnings(file, verdict.id or "", verdict.warnings)
        _show_changes(verdict)
        if verdict.connect is not None:
            _show_connection(verdict.connect)
        return document, f"{verdict.id} would be taken: {verdict.restarts_what}"

    def _show_warnings(self, file: SpecFile, supervisor_id: str, warnings: Sequence[str]) -> None:
        self.ids[file.name] = supervisor_id
        if not self.alone:
            print_notice(f"{file.name}:")
        for warning in warnings:
            print_notice(f"warning: {warning}")


def _body(file: SpecFile) -> bytes:
    if isinstance(file.body, CommandFailed):
        raise file.body
    return file.body


def diff(file: File, server: Server = None, output: Output = Format.TABLE) -> None:
    """Show what a spec would change; exit code 1 if it differs from the stored one, 0 if not.

    Example: tidegate supervisor diff -f clicks.yaml
    """
    with connect(server) as client:
        document, verdict = _validate(client, read_one(file), look=False)
    if verdict.valid and output is Format.JSON:
        show_json(document)
    else:
        _refuse(verdict)
        show_name(verdict.id or "")
        _show_changes(verdict)
    if not verdict.exists:
        print_notice(f"{verdict.id} is not there: it would be made")
    elif verdict.changes:
        print_notice(f"{verdict.id} differs: {verdict.restarts_what}")
    else:
        print_notice(f"{verdict.id} is the same")
    if verdict.changes or not verdict.exists:
        raise typer.Exit(FAILED)


def _validate(
    client: Client, body: bytes, *, look: bool, headers: Mapping[str, str] | None = None
) -> tuple[object, DryRunView]:
    params = {"connect": "true" if look else "false"}
    answer = client.post(VALIDATE, body, params, headers=headers)
    return answer.json(), answer.read(DryRunView)


def _refuse(verdict: DryRunView) -> None:
    if not verdict.valid:
        raise _refused([FieldError(e.pointer, e.message, e.hint) for e in verdict.errors])


def _refused(errors: Sequence[FieldError]) -> ProblemAnswer:
    title = "The spec is not acceptable"
    return ProblemAnswer(title, status=_REFUSED, title=title, errors=errors)


def _show_changes(verdict: DryRunView) -> None:
    if verdict.changes:
        show_table(
            ("FIELD", "FROM", "TO", "EFFECT"),
            ((c.field, short_json(c.old), short_json(c.new), c.effect) for c in verdict.changes),
        )


def _show_connection(connection: Connection) -> None:
    if not connection.reachable:
        print_notice(f"warning: {connection.error}")
    for topic in connection.topics:
        records = sum(p.latest - p.earliest for p in topic.partitions)
        print_notice(f"topic {topic.topic}: {len(topic.partitions)} partitions, {records} offsets")
