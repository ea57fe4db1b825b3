"""The checks of what keeps flows and executions: their database, and their topics on Kafka."""

from collections.abc import Iterator

from supervisor.app.executions.parts import try_executions
from supervisor.app.executions.topics_now import execution_topics
from supervisor.cli.cluster.doctor.check import InstallationCheck, Result
from supervisor.ports.flows.engine_kinds import EngineRefused
from supervisor.ports.flows.execution_log import LogAway, LogRefuses
from supervisor.ports.store_problems import StoreAway, StoreMissing, StoreRefuses
from supervisor.settings.problems import SetupProblem
from supervisor.settings.settings import Settings

__all__ = ["check_execution_topics", "check_executions"]


def check_executions(settings: Settings) -> InstallationCheck:
    """Read from the database of executions; without it flows wait, and the rest goes on."""
    part = "executions database"
    try:
        try_executions(settings)
    except StoreMissing:
        return InstallationCheck(part, Result.NOTE, "an overlord makes it at its start")
    except StoreAway as error:
        fix = "check TIDEGATE_EXECUTIONS_URL, and that the database is up and accepts the login"
        return InstallationCheck(part, Result.PROBLEM, str(error), fix)
    except EngineRefused as error:
        fix = "let them end or kill them by the other setting of TIDEGATE_EXECUTIONS_KAFKA first"
        return InstallationCheck(part, Result.PROBLEM, str(error), fix)
    except StoreRefuses as error:
        fix = "start an overlord of this release, or run the version that migrated it"
        return InstallationCheck(part, Result.PROBLEM, str(error), fix)
    return InstallationCheck(part, Result.OK, "it answers, with the schema of this release")


def check_execution_topics(settings: Settings) -> Iterator[InstallationCheck]:
    """Look at topics and rights as an executor does at its start; nothing without Kafka."""
    part = "executions on Kafka"
    try:
        now = execution_topics(settings)
    except SetupProblem as error:
        yield InstallationCheck(part, Result.PROBLEM, str(error), error.fix)
        return
    except (LogAway, LogRefuses) as error:
        fix = "check TIDEGATE_EXECUTIONS_KAFKA, and that its advertised listeners are reachable"
        yield InstallationCheck(part, Result.PROBLEM, str(error), fix)
        return
    if now is None:
        return
    for trouble in now.troubles:
        what, _, command = trouble.rpartition(": ")
        yield InstallationCheck(part, Result.PROBLEM, what, command)
    if now.missing:
        finding = f"not there yet: {', '.join(now.missing)}"
        fix = "an executor makes them at its start, or its log says how"
        yield InstallationCheck(part, Result.NOTE, finding, fix)
    elif not now.troubles:
        finding = "topics are as they have to be, and no right of an executor is missing"
        yield InstallationCheck(part, Result.OK, finding)
