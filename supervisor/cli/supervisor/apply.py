"""`tidegate supervisor apply`: apply specs from files, with one result each."""

from dataclasses import dataclass, field
from typing import Annotated

import typer

from supervisor.cli.shell.client import SUPERVISORS, Client
from supervisor.cli.shell.form import Format
from supervisor.cli.shell.many import each, show_each, wait_for_each
from supervisor.cli.shell.options import Output, Reason, Server, Wait, connect
from supervisor.cli.shell.output import print_notice, short_json
from supervisor.cli.shell.problems import CommandFailed
from supervisor.cli.shell.wait import wait_until_applied
from supervisor.cli.supervisor.dry_run import DryRun, dry_run
from supervisor.cli.supervisor.spec_files import SpecFile, read_specs
from supervisor.views.supervisors.specs import Posted

"""Characters that are shown of a changed value."""


@dataclass
class _Applying:
    client: Client
    headers: dict[str, str]
    ids: dict[str, str] = field(default_factory=dict)
    """File -> id of the supervisor in its spec."""
    operations: dict[str, str | None] = field(default_factory=dict)
    """File -> id of the operation that brings its spec into force."""

    def post(self, file: SpecFile) -> tuple[object, str]:
        if isinstance(file.body, CommandFailed):
            raise file.body
        answer = self.client.post(
            SUPERVISORS, file.body, {"skipRestartIfUnmodified": "true"}, headers=self.headers
        )
        applied = answer.read(Posted)
        for warning in applied.warnings:
            print_notice(f"warning: {warning}")
        self.ids[file.name] = applied.id
        self.operations[file.name] = answer.operation
        return answer.json(), describe_impact(applied)


def apply(
    file: Annotated[
        list[str],
        typer.Option(
            "--file",
            "-f",
            metavar="FILE",
            help="A spec or a list of specs, JSON or YAML, or a folder of them; - reads stdin. "
            "May be repeated.",
        ),
    ],
    *,
    only_new: Annotated[
        bool, typer.Option("--only-new", help="Refuse to change a supervisor that exists.")
    ] = False,
    dry: DryRun = None,
    wait: Wait = None,
    reason: Reason = None,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """Create supervisors from specs, or change them; an unchanged spec changes nothing.

    Each spec has a result of its own: if one is refused, the exit code is 1, and the others are
    applied. --dry-run=server shows what the overlord would do, --dry-run=client reads the specs
    here alone.

    \b
    Examples:
      tidegate supervisor apply -f clicks.yaml --wait 60
      tidegate supervisor apply -f supervisor-specs.json
      cat clicks.json | tidegate supervisor apply -f -
    """
    specs = list(read_specs(file))
    alone = len(specs) == 1
    headers = {"If-None-Match": "*"} if only_new else {}
    if dry is not None:
        dry_run(specs, dry, server, output, headers=headers)
        return
    named = {spec.name: spec for spec in specs}
    with connect(server, reason) as client:
        applying = _Applying(client, headers)
        tried = each(named, lambda name: applying.post(named[name]), alone=alone)

        def awaited(name: str, seconds: float) -> None:
            wait_until_applied(client, applying.ids[name], applying.operations[name], seconds)

        tried = wait_for_each(tried, awaited, wait, alone=alone)
    show_each(tried, output, alone=alone, ids=applying.ids)


def describe_impact(applied: Posted) -> str:
    """Return a message with each change and its effect, and that the spec is applied."""
    lines = [
        f"{change.field}: {short_json(change.old)} -> {short_json(change.new)} ({change.effect})"
        for change in applied.changes
    ]
    unchanged = applied.modified is False
    lines.append(f"{applied.id} is unchanged" if unchanged else f"{applied.id} is applied")
    return "\n".join(lines)
