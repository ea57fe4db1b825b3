"""An overlord that lost a thread that it cannot do without ends, so that it is started again.

Slow: overlords start, and end by themselves.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from supervisor.dev.ports import free_port

pytestmark = [pytest.mark.process, pytest.mark.long]

WITHIN_S = 60.0
_CODE = """
import sys
from supervisor.cli.main import run
from {module} import {owner}

def end(self):
    raise SystemExit  # ends a thread without a word

{owner}.{method} = end
sys.exit(run(["overlord"]))
"""


@pytest.mark.parametrize(
    ("module", "owner", "method", "named"),
    [
        ("supervisor.control.leadership", "Leadership", "_look", "leadership loop"),
        ("supervisor.control.leadership", "Leadership", "_begin", "leadership loop"),
        ("supervisor.control.loop", "Loop", "_ready", "loop of passes"),
        ("supervisor.eventqueue.dispatcher", "Dispatcher", "_overdue", "dispatcher of event"),
    ],
)
def test_an_overlord_ends_with_a_thread_that_it_cannot_do_without(
    tmp_path: Path, module: str, owner: str, method: str, named: str
) -> None:
    """Goal: a process that only looks alive is nobody's to restart; its exit code is not 0."""
    code = _CODE.format(module=module, owner=owner, method=method)
    env = os.environ | {
        "TIDEGATE_METADATA_URL": f"sqlite:///{tmp_path}/metadata.db",
        "TIDEGATE_WAREHOUSE": str(tmp_path / "warehouse"),
        "TIDEGATE_DATA_DIR": str(tmp_path / "data"),
        "TIDEGATE_PORT": str(free_port()),
    }

    done = subprocess.run(
        (sys.executable, "-c", code),
        env=env,
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=False,
    )

    assert done.returncode == 1, done.stderr
    assert named in done.stderr
