"""The checks of executors: each that has registered, its state and its clock."""

from collections.abc import Iterator
from datetime import UTC, datetime

import httpx
from pydantic import AwareDatetime, BaseModel, ValidationError

from supervisor.app.executions.registered import registered_executors
from supervisor.cli.cluster.doctor.check import InstallationCheck, Result
from supervisor.cli.cluster.doctor.clocks import CLOCK_FIX, clock_difference
from supervisor.executions.executor.registration import DEAD_S
from supervisor.ports.flows.executors import ExecutorRow
from supervisor.settings.settings import Settings

__all__ = ["check_executors"]

_ASK_S = 5.0
_FORGOTTEN_S = 86_400.0
"""An executor that is silent for so long was taken away; the list of executors leaves it out."""
_START = "start one: tidegate executor"


class _ExecutorAnswer(BaseModel):
    """The members of an executor's status that are checked."""

    state: str
    reason: str = ""
    now: AwareDatetime | None = None
    """None: an executor of an older release."""


def check_executors(settings: Settings) -> Iterator[InstallationCheck]:
    """Yield a check of each executor; none where no brokers are named for executions.

    A database that does not answer has a check of its own.
    """
    if settings.executions_kafka is None:
        return
    rows = registered_executors(settings)
    if rows is None:
        return
    known = [row for row in rows if row.silent_s < _FORGOTTEN_S]
    if not known:
        finding = "none has registered, so no flow goes on"
        yield InstallationCheck("executors", Result.PROBLEM, finding, _START)
    for row in known:
        yield _executor(settings, row)


def _executor(settings: Settings, row: ExecutorRow) -> InstallationCheck:
    part = f"executor {row.runner.name}"
    if row.silent_s >= DEAD_S:
        finding = f"it has not been heard of for {row.silent_s:,.0f} s; others do its work"
        return InstallationCheck(part, Result.PROBLEM, finding, "start it again, or let it be")
    before = datetime.now(UTC)
    try:
        answer = httpx.get(
            f"{row.url}/status", timeout=_ASK_S, trust_env=False, verify=settings.trust()
        )
        status = _ExecutorAnswer.model_validate_json(answer.raise_for_status().content)
    except (httpx.HTTPError, ValidationError) as error:
        why = str(error).partition("\n")[0] or type(error).__name__
        finding = f"it is heard of, but {row.url} gives no answer from here: {why}"
        return InstallationCheck(part, Result.NOTE, finding)
    after = datetime.now(UTC)
    if status.reason:
        fix = "docs/how-to/run-flows-on-kafka.md"
        return InstallationCheck(part, Result.PROBLEM, f"{status.state}: {status.reason}", fix)
    if status.now is None:
        return InstallationCheck(part, Result.OK, status.state)
    if differs := clock_difference(status.now, before, after):
        return InstallationCheck(part, Result.PROBLEM, differs, CLOCK_FIX)
    return InstallationCheck(part, Result.OK, f"{status.state}, and its clock agrees")
