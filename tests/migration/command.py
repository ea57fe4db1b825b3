"""The command line of migrations, as operators run it."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def alembic(url: str, *arguments: str) -> None:
    """Run `alembic` on a database; it has to succeed."""
    done = subprocess.run(
        [sys.executable, "-m", "alembic", "-x", f"url={url}", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
