"""What an overlord and an executor share: their database, and the calls that each makes itself.

Heavy calls are made in child processes, within the bounds that are set.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from threading import Event

from supervisor.adapters.child_prover import ChildProver
from supervisor.adapters.executions.http.call import HttpCalls
from supervisor.adapters.secrets import read_secret
from supervisor.core.executions.inputs import Outcome, Succeeded
from supervisor.core.executions.reduced import StepCall
from supervisor.database.engine import sqlite_file
from supervisor.executions.runner import StepVerb
from supervisor.services.flows.calls import OutgoingRules
from supervisor.settings.settings import Settings

__all__ = ["executions_url", "outgoing_of", "own_verbs", "prover_of"]


def executions_url(settings: Settings) -> str:
    """Return the URL of the database of executions."""
    if settings.executions_url is not None:
        return settings.executions_url
    file = sqlite_file(settings.metadata_url)
    if file is None:
        return settings.metadata_url
    # One writer at a time on SQLite: a step would make a publish wait.
    return f"sqlite:///{file.with_name('executions.db')}"


def outgoing_of(settings: Settings) -> OutgoingRules:
    """Return where `http` steps may go."""
    allow = [entry.lower() for entry in settings.http_allow]
    return OutgoingRules(allow, settings.connections().bindings)


def own_verbs(settings: Settings) -> Mapping[str, StepVerb]:
    """Return the verbs that need no overlord."""
    rules = outgoing_of(settings)
    http = HttpCalls(rules.allow, read_secret, rules.bindings, settings.trust())
    return {"noop": _noop, "http": http}


def prover_of(settings: Settings, moved: Callable[[int, int], None] | None = None) -> ChildProver:
    """Return what makes proofs, in processes with the bounds that are set.

    `moved` is called with how many rows and offsets a proof has read.
    """
    prover = ChildProver(
        settings.executions_child_memory,
        settings.executions_child_time,
        settings.executions_child_files,
    )
    return prover if moved is None else replace(prover, moved=moved)


def _noop(_: StepCall, __: Event) -> Outcome:
    """Do nothing, with success."""
    return Succeeded()
