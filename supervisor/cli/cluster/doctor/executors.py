"""The checks of executors: each that has registered, its state and its clock."""

from collections.abc import Iterator

from supervisor.app.executions.registered import registered_executors
from supervisor.cli.cluster.doctor.check import InstallationCheck, Result
from supervisor.cli.cluster.doctor.status import CLOCK_FIX, NoStatus, ask_status
from supervisor.executions.executor.registration import DEAD_S, SHOWN_S
from supervisor.ports.flows.executors import ExecutorRow
from supervisor.settings.settings import Settings

__all__ = ["check_executors"]

_START = "start one: tidegate executor"


def check_executors(settings: Settings) -> Iterator[InstallationCheck]:
    """Yield a check of each executor; none where no brokers are named for executions.

    A database that does not answer has a check of its own.
    """
    if settings.executions_kafka is None:
        return
    rows = registered_executors(settings)
    if rows is None:
        return
    known = [row for row in rows if row.silent_s < SHOWN_S]
    if not known:
        finding = "none has registered, so no flow goes on"
        yield InstallationCheck("executors", Result.PROBLEM, finding, _START)
    for row in known:
        yield _executor(settings, row)


def _executor(settings: Settings, row: ExecutorRow) -> InstallationCheck:
    part = f"executor {row.runner.name}"
    if row.silent_s >= DEAD_S:
        finding = f"it has not been heard of for {row.silent_s:,.0f} s"
        fix = "start it again: tidegate executor; one that is gone for good is left out after a day"
        return InstallationCheck(part, Result.PROBLEM, finding, fix)
    try:
        answer = ask_status(settings, row.url)
    except NoStatus as error:
        finding = f"it is heard of, but {row.url} gives no answer from here: {error}"
        return InstallationCheck(part, Result.NOTE, finding)
    status = answer.status
    if status.reason:
        fix = "docs/how-to/run-flows-on-kafka.md"
        return InstallationCheck(part, Result.PROBLEM, f"{status.state}: {status.reason}", fix)
    if answer.clock:
        return InstallationCheck(part, Result.PROBLEM, answer.clock, CLOCK_FIX)
    agrees = "" if status.now is None else ", and its clock agrees"
    return InstallationCheck(part, Result.OK, f"{status.state}{agrees}")
