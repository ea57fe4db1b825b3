"""`tidegate flow`: flows that an overlord keeps; check them, and try them without a server."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated

import typer
from pydantic import JsonValue

from supervisor.app.flows import flow_from, simulation_of
from supervisor.cli.flow.init import add_init
from supervisor.cli.flow.outcomes import Inputs, read_inputs, read_outcomes
from supervisor.cli.flow.plan import add_plan
from supervisor.cli.flow.stored import add_stored
from supervisor.cli.flow.triggers import add_triggers
from supervisor.cli.shell.form import Format
from supervisor.cli.shell.options import Output
from supervisor.cli.shell.output import show_json, show_table, show_text
from supervisor.cli.shell.problems import FAILED, CommandFailed
from supervisor.cli.supervisor.spec_files import read_specs
from supervisor.core.executions.plan import FlowPlan, all_steps
from supervisor.core.executions.reduced import ExecutionEvent
from supervisor.core.executions.states import AttemptState, ExecutionState
from supervisor.core.flows.children import called_flow
from supervisor.core.flows.compiling import compile_flow
from supervisor.core.flows.document import FlowDocument, bind_inputs
from supervisor.core.flows.json_schema import flow_schema
from supervisor.core.values.errors import InvalidFlow, InvalidInputs
from supervisor.core.values.json_bodies import parse_document
from supervisor.executions.simulate import NAME, Simulated

commands = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Flows, which are work in steps: check, try, store them.",
)

Files = Annotated[
    list[str],
    typer.Argument(metavar="FILE", help="Flows, JSON or YAML, or folders of them; - reads stdin."),
]
Outcomes = Annotated[
    list[str] | None,
    typer.Option(
        "--outcome",
        metavar="STEP=OUTCOME",
        help="Name what becomes of a step: its outputs as JSON, fail, fail:CODE, lost, or no. "
        "Give it again for the next attempt.",
        show_default="each step succeeds",
    ),
]


add_init(commands)
add_plan(commands)
add_stored(commands)
add_triggers(commands)


@commands.command()
def schema() -> None:
    """Print the JSON Schema of a flow, for editors: they complete and check while you type.

    Example: tidegate flow schema > flow.schema.json
    """
    show_json(flow_schema())


@commands.command()
def validate(files: Files) -> None:
    """Check flows: their fields, their order, their expressions."""
    failed = 0
    for name, flow in _flows(files):
        if isinstance(flow, InvalidFlow):
            failed += 1
            show_text(f"{name}: refused")
            for error in flow.errors:
                hint = f" ({error.hint})" if error.hint else ""
                show_text(f"  {error.pointer or '/'}: {error.message}{hint}")
        else:
            count = len(list(all_steps(compile_flow(flow, 1))))
            show_text(f"{flow.flow}: a flow of {count} step{'' if count == 1 else 's'}")
    if failed:
        raise typer.Exit(FAILED)


@commands.command()
def simulate(
    files: Files, inputs: Inputs = None, outcomes: Outcomes = None, output: Output = Format.TABLE
) -> None:
    """Try a flow without a server; the other FILEs are flows that it calls.

    No call is made and no time is waited for.  Each step succeeds unless an outcome is named.
    """
    flows: dict[str, FlowDocument] = {}
    for name, flow in _flows(files):
        if isinstance(flow, InvalidFlow):
            raise CommandFailed(f"{name}: {flow}", "see `tidegate flow validate`")
        flows[flow.flow] = flow
    first = next(iter(flows.values()), None)
    if first is None:
        raise CommandFailed("there is no flow", "name a file with one")
    called = {name: called_flow(flow, 1) for name, flow in flows.items()}
    plan = called[first.flow].plan
    try:
        values = bind_inputs(first, read_inputs(inputs or []))
    except InvalidInputs as refused:
        raise CommandFailed(str(refused), "give each with -i NAME=VALUE") from None
    named = read_outcomes(
        outcomes or [], [step.name for one in called.values() for step in all_steps(one.plan)]
    )
    simulated = simulation_of(named, called.get).run(plan, values, datetime.now(UTC))
    if output is Format.JSON:
        show_json(_body(simulated))
    else:
        _show(simulated, plan)
    if simulated.execution.state is not ExecutionState.SUCCESS:
        raise typer.Exit(FAILED)


def _flows(files: Sequence[str]) -> list[tuple[str, FlowDocument | InvalidFlow]]:
    read: list[tuple[str, FlowDocument | InvalidFlow]] = []
    for spec in read_specs(files):
        if isinstance(spec.body, CommandFailed):
            raise spec.body
        try:
            read.append((spec.name, flow_from(parse_document(spec.body))))
        except InvalidFlow as refused:
            read.append((spec.name, refused))
    return read


def _show(simulated: Simulated, plan: FlowPlan) -> None:
    began = simulated.execution.created_at
    shown = [(name, event) for name, event in simulated.events if _is_news(event)]
    with_children = any(name != NAME for name, _ in shown)
    columns = ("after", "step", "what", *(("execution",) if with_children else ()))
    rows = [
        (_after(event, began), str(event.about.get("step", "")), _words(event), _whose(name))
        for name, event in shown
    ]
    show_table(columns, [row[: len(columns)] for row in rows])
    for run in simulated.waits:
        if run.wait is not None:
            show_text(f"it waits for {run.wait.what}")
    show_text(f"{plan.flow}: {simulated.execution.state}")
    for failure in simulated.execution.failures:
        error, step = failure.error, failure.step or "the execution"
        show_text(f"  {step}: {error.message} ({error.code})")
    if simulated.execution.outputs:
        show_text(f"outputs: {json.dumps(simulated.execution.outputs)}")


def _is_news(event: ExecutionEvent) -> bool:
    """Whether an event is worth a line: attempts are, when they are not the one that succeeds."""
    match event.name:
        case "attempt-claimed":
            return False
        case "attempt-started":
            return event.about["attempt"] != 1
        case "attempt-ended":
            return event.about["state"] != AttemptState.SUCCESS
        case _:
            return True


def _whose(name: str) -> str:
    return "" if name == NAME else name


def _after(event: ExecutionEvent, began: datetime) -> str:
    return f"{(event.at - began).total_seconds():g} s"


def _words(event: ExecutionEvent) -> str:
    """Return what happened, in words."""
    words = event.name.replace("-", " ")
    attempt = event.about.get("attempt")
    number = f" {attempt}" if isinstance(attempt, int) and attempt > 1 else ""
    state = event.about.get("state")
    return f"{words}{number}: {state}" if state else f"{words}{number}"


def _body(simulated: Simulated) -> JsonValue:
    execution = simulated.execution
    return {
        "state": execution.state,
        "outputs": dict(execution.outputs),
        "failures": [
            {"step": one.step, "code": one.error.code, "message": one.error.message}
            for one in execution.failures
        ],
        "waits": [run.wait.what for run in simulated.waits if run.wait is not None],
        "events": [
            {
                "execution": name,
                "number": event.number,
                "seconds": (event.at - execution.created_at).total_seconds(),
                "name": event.name,
                **event.about,
            }
            for name, event in simulated.events
        ],
    }
