"""Whether the test that a planted fault names finds it: green without the fault, red with it."""

import os
import subprocess
import sys
from pathlib import Path

from tests.simulation.planted.patches import Mutant

__all__ = ["MISFITS", "found_by_its_test"]

MISFITS = ("TypeError", "AttributeError", "NameError")
"""What a replaced function raises whose neighbours have changed: the fault was never tried."""
_ROOT = Path(__file__).parents[3]


def found_by_its_test(mutant: Mutant, plugin: str = "tests.simulation.planted.plugin") -> bool:
    """Run a fault's direct test without it, then with it: it has to pass, then to fail.

    `plugin`: the module that plants what TIDEGATE_PLANTED names.
    """
    if _tested(mutant, plugin, planted=False).returncode != 0:
        return False
    done = _tested(mutant, plugin, planted=True)
    return done.returncode == 1 and not any(word in done.stdout for word in MISFITS)


def _tested(mutant: Mutant, plugin: str, *, planted: bool) -> subprocess.CompletedProcess[str]:
    named = {"TIDEGATE_PLANTED": mutant.name} if planted else {}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "--tb=line"]
    command += ["-p", plugin, mutant.direct]
    return subprocess.run(
        command, cwd=_ROOT, env={**os.environ, **named}, capture_output=True, text=True, check=False
    )
