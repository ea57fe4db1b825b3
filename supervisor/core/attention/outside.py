"""Remedies outside of the API: what can be done about brokers, the database and overlords."""

import shlex

from supervisor.core.attention.remedies import Remedy, RemedyAction


def broken_connection(brokers: str) -> Remedy:
    """Return the step after brokers, a list of bootstrap servers, cannot be read."""
    return Remedy(
        RemedyAction.ASK_BROKERS,
        "Check that the brokers run, and that this overlord reaches them and may read",
        None,
        {"brokers": brokers},
        "tidegate doctor",
    )


def silent_database_steps() -> tuple[Remedy, ...]:
    """Return the steps after the metadata database does not answer."""
    return (
        Remedy(
            RemedyAction.ASK_DATABASE,
            "Check that the database runs, and that the overlord reaches it",
            None,
            command="tidegate doctor",
        ),
    )


def missing_leader_steps() -> tuple[Remedy, ...]:
    """Return the steps while no overlord leads."""
    label = "Start an overlord, or read the logs of those that run"
    return (Remedy(RemedyAction.START_OVERLORD, label, None, command="tidegate overlord"),)


def replaced_leader_steps(before: str) -> tuple[Remedy, ...]:
    """Return the steps after an overlord, by its address, was replaced as the leader."""
    return (
        Remedy(
            RemedyAction.ASK_OVERLORD,
            f"Find out why {before} was silent",
            None,
            {"overlord": before},
            f"tidegate doctor --server {shlex.quote(before)}",
        ),
    )
