"""A pytest plugin, as `faults.PLUGIN`: it plants what TIDEGATE_PLANTED names."""

import os

import pytest

from tests.simulation.planted.patches import Patches
from tests.supervisor.reports.planted.faults import by_name


def pytest_configure(config: pytest.Config) -> None:
    """Plant before any test module is imported; the process ends with the fault in it."""
    del config
    if name := os.environ.get("TIDEGATE_PLANTED"):
        by_name(name).plant(Patches())
