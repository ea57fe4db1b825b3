"""The tree of all commands of `tidegate`."""

from supervisor.cli.cluster import access, config, metadata, queues, tasks, workers
from supervisor.cli.cluster.audit import audit
from supervisor.cli.cluster.bundle import bundle
from supervisor.cli.cluster.doctor.doctor import doctor
from supervisor.cli.cluster.overview import overview
from supervisor.cli.cluster.reports import reports
from supervisor.cli.cluster.stored import search_logs, supervisor_reports, task_reports
from supervisor.cli.cluster.task_logs import logs
from supervisor.cli.cluster.whoami import whoami
from supervisor.cli.flow import executions, flows
from supervisor.cli.processes import PROCESSES
from supervisor.cli.shell.completion import completion
from supervisor.cli.shell.root import new_root
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

__all__ = ["app"]

app = new_root()
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
for _process in (completion, *PROCESSES):
    app.command()(_process)
