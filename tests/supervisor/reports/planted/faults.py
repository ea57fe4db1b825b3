"""All planted faults of reports."""

from tests.simulation.planted.patches import Mutant
from tests.supervisor.reports.planted import persister, sender, stores

__all__ = ["MUTANTS", "PLUGIN", "by_name"]

MUTANTS: tuple[Mutant, ...] = (*persister.MUTANTS, *stores.MUTANTS, *sender.MUTANTS)
PLUGIN = "tests.supervisor.reports.planted.plugin"
"""Of pytest: plants what TIDEGATE_PLANTED names."""


def by_name(name: str) -> Mutant:
    """Return one.

    Raises:
        KeyError: there is none of that name.
    """
    return {mutant.name: mutant for mutant in MUTANTS}[name]
