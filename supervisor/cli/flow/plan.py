"""`tidegate flow plan`: what each step of a flow would do, by its dry run."""

import json
from collections.abc import Iterator
from typing import Annotated

import typer

from supervisor.cli.flow.outcomes import Inputs, read_inputs
from supervisor.cli.shell.form import Format
from supervisor.cli.shell.options import Output, Server, connect
from supervisor.cli.shell.output import print_notice, short_json, show_json, show_table
from supervisor.cli.shell.problems import FAILED, CommandFailed
from supervisor.cli.supervisor.spec_files import read_specs
from supervisor.core.flows.foreseen import StepBegins
from supervisor.core.values.json_bodies import parse_document
from supervisor.views.flows.outlooks import FlowOutlookView, StepOutlookView

__all__ = ["add_plan"]


def plan(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="A flow, JSON or YAML; - reads stdin.", show_default=False
        ),
    ],
    inputs: Inputs = None,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """Show what each step of a flow would do, by its dry run; nothing is stored or changed.

    The exit code is 1 if a step would fail now.

    Example: tidegate flow plan orders-day.yaml -i day=2026-11-25
    """
    [spec, *more] = read_specs([file])
    if more:
        raise CommandFailed(f"{file} has more than one flow", "name the file of one")
    if isinstance(spec.body, CommandFailed):
        raise spec.body
    wanted = {"flow": parse_document(spec.body), "inputs": read_inputs(inputs or [])}
    with connect(server) as client:
        answer = client.post("/api/v1/flows/plan", json.dumps(wanted).encode())
        outlook = answer.read(FlowOutlookView)
    if output is Format.JSON:
        show_json(outlook.model_dump(mode="json", by_alias=True))
    else:
        show_table(("STEP", "TYPE", "BEGINS", "WOULD"), map(_row, outlook.steps), wide=("COSTS",))
        if outlook.left_out:
            print_notice(f"There are {outlook.left_out} more steps: the first ones are shown.")
    if any(step.error is not None for step in outlook.steps):
        raise typer.Exit(FAILED)


def _row(step: StepOutlookView) -> tuple[object, ...]:
    name = "/".join((*step.inside, step.step))
    return name, step.type, step.begins, "; ".join(_words(step)), step.costs


def _words(step: StepOutlookView) -> Iterator[str]:
    if step.error is not None:
        yield f"fail: {step.error.message} ({step.error.code})"
    elif step.effect:
        text = step.effect.get("text")  # of a verb whose dry run has words
        yield text if isinstance(text, str) else short_json(step.effect)
    elif not step.looked:
        yield "not looked at: there were too many steps, or no answers, before it"
    if step.depends_on and step.begins is not StepBegins.NO:
        yield f"depends on {', '.join(step.depends_on)}"


def add_plan(commands: typer.Typer) -> None:
    """Add this command to `tidegate flow`."""
    commands.command()(plan)
