"""Entry point of the command `tidegate`: the tree of commands, and error handling.

An error becomes one line and an exit code (`shell/problems.py`), also an unexpected error.
TIDEGATE_DEBUG=1 shows the traceback.
"""

import contextvars
import importlib.metadata
import os
import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import Annotated

import typer
import typer.main

from supervisor.cli.cluster import access, config, metadata, queues, tasks, workers
from supervisor.cli.cluster.audit import audit
from supervisor.cli.cluster.bundle import bundle
from supervisor.cli.cluster.doctor.doctor import doctor
from supervisor.cli.cluster.overview import overview
from supervisor.cli.cluster.reports import reports
from supervisor.cli.cluster.serve import dev, executor, overlord, persister
from supervisor.cli.cluster.stored import search_logs, supervisor_reports, task_reports
from supervisor.cli.cluster.task_logs import logs
from supervisor.cli.cluster.whoami import whoami
from supervisor.cli.flow import executions, flows
from supervisor.cli.shell.completion import completion
from supervisor.cli.shell.groups import TopLevel
from supervisor.cli.shell.options import present_name
from supervisor.cli.shell.output import print_notice, show_error, show_text
from supervisor.cli.shell.problems import FAILED, exit_code
from supervisor.cli.shell.profiles import use_profile
from supervisor.cli.supervisor import supervisors
from supervisor.cli.supervisor.apply import apply
from supervisor.cli.supervisor.coverage import coverage
from supervisor.cli.supervisor.dry_run import diff
from supervisor.cli.supervisor.forget import forget
from supervisor.cli.supervisor.handoff import handoff
from supervisor.cli.supervisor.init import init
from supervisor.cli.supervisor.partitions import partitions
from supervisor.cli.supervisor.reset import reset
from supervisor.cli.supervisor.rollback import rollback
from supervisor.cli.supervisor.sample import sample
from supervisor.cli.supervisor.top import top
from supervisor.cli.supervisor.verbs import resume, suspend, terminate
from supervisor.cli.supervisor.watch import explain, watch
from supervisor.cli.supervisor.windows import events, lag, plans, ranges
from supervisor.cli.table import compaction, exports, quarantine, segments, tables
from supervisor.cli.table.query import query
from supervisor.cli.table.verify import verify
from supervisor.core.values.errors import SupervisorError
from tasks.runtime.secrets import without_secrets

_INTERRUPTED = 130

app = typer.Typer(
    name="tidegate",
    no_args_is_help=True,
    cls=TopLevel,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"token_normalize_func": present_name},
    help="Turn Kafka topics into Parquet tables, each record exactly once.",
)
app.add_typer(supervisors.commands, name="supervisor")
app.add_typer(tasks.commands, name="task")
app.add_typer(workers.commands, name="worker")
app.add_typer(tables.commands, name="table")
app.add_typer(segments.commands, name="segment")
app.add_typer(queues.commands, name="queue")
app.add_typer(quarantine.commands, name="quarantine")
app.add_typer(exports.commands, name="export")
app.add_typer(compaction.commands, name="compaction")
app.add_typer(flows.commands, name="flow")
app.add_typer(executions.commands, name="execution")
app.add_typer(access.commands, name="access")
app.add_typer(metadata.commands, name="metadata")
app.add_typer(reports.commands, name="reports")
app.add_typer(config.commands, name="config")
tasks.commands.command()(logs)
tasks.commands.command("reports")(task_reports)
supervisors.commands.command("reports")(supervisor_reports)
for _verb in (apply, diff, sample, rollback, suspend, resume, terminate, init):
    supervisors.commands.command()(_verb)
for _other in (
    forget,
    reset,
    handoff,
    top,
    partitions,
    explain,
    coverage,
    watch,
    events,
    ranges,
    plans,
    lag,
    bundle,
):
    supervisors.commands.command()(_other)
for _command in (overview, audit, whoami, verify, query, exports.snippet, doctor):
    app.command()(_command)
app.command("logs")(search_logs)
for _process in (completion, overlord, executor, persister, dev):
    app.command()(_process)


def _version(wanted: bool) -> None:
    if wanted:
        show_text(f"tidegate {importlib.metadata.version('tidegate')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[  # noqa: ARG001 -- its callback has used it
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
    profile: Annotated[
        str | None,
        typer.Option(
            "--profile",
            metavar="NAME",
            show_default="TIDEGATE_PROFILE, or the file's default, or none",
            help="Profile to use: see `tidegate config`.",
        ),
    ] = None,
) -> None:
    """Turn Kafka topics into Parquet tables, each record exactly once."""
    use_profile(profile)


def run(arguments: Sequence[str]) -> int:
    """Carry out one command line and return its exit code."""
    # In a context of its own, so that its form and profile end with it.
    context = contextvars.copy_context()
    return context.run(_guarded, lambda: _tree()(list(arguments), prog_name="tidegate"))


@cache
def _tree() -> Callable[..., object]:
    """Return the tree of commands, which is built from their functions once."""
    return typer.main.get_command(app)


def _guarded(command: Callable[[], object]) -> int:
    try:
        command()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0
    except SupervisorError as error:
        if _debug():
            raise
        show_error(error)
        return exit_code(error)
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        # The reader closed the pipe; the interpreter must not flush stdout again at its exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except Exception as error:
        if _debug():
            raise
        what = without_secrets(str(error)).partition("\n")[0][:500]
        print_notice(f"error: {type(error).__name__}: {what}")
        print_notice("This was not foreseen. TIDEGATE_DEBUG=1 shows where it happened.")
        return FAILED
    return 0


def _debug() -> bool:
    return os.environ.get("TIDEGATE_DEBUG", "") not in {"", "0"}


def main() -> None:
    """Run the command line of this process, and exit with its code."""
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
