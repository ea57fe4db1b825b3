"""The simulation's command, in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

_ROOT = Path(__file__).parents[2]


def simulate(*arguments: str, hashed: str = "random") -> subprocess.CompletedProcess[str]:
    """Run `python -m tests.simulation`; its sets of texts are ordered by `hashed`."""
    return subprocess.run(
        [sys.executable, "-m", "tests.simulation", *arguments],
        cwd=_ROOT,
        env={**os.environ, "PYTHONHASHSEED": hashed},
        capture_output=True,
        text=True,
        check=False,
    )
