"""A pytest plugin: `-p tests.simulation.planted.plugin` plants what TIDEGATE_PLANTED names."""

import os

import pytest

from tests.simulation.mutants import by_name
from tests.simulation.planted.patches import Patches


def pytest_configure(config: pytest.Config) -> None:
    """Plant before any test module is imported; the process ends with the fault in it."""
    del config
    if name := os.environ.get("TIDEGATE_PLANTED"):
        mutant = by_name(name)
        (mutant.real or mutant.plant)(Patches())
