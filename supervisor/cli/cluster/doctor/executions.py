"""The check of the database of flows and executions."""

from supervisor.app.executions.parts import try_executions
from supervisor.cli.cluster.doctor.check import InstallationCheck, Result
from supervisor.ports.flows.engine_kinds import EngineRefused
from supervisor.ports.store_problems import StoreAway, StoreMissing, StoreRefuses
from supervisor.settings.settings import Settings

__all__ = ["check_executions"]


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
