"""Build the web console: supervisor/console/dist, by the Node and the npm packages that are locked.

python -m scripts.console            build it, unless it is built from these very sources
python -m scripts.console --setup    the same, as scripts/setup does: what could not be built once
                                     is not tried again, and it is no failure

    package-lock.json changed ─► npm ci, without scripts of packages
    any source changed ────────► types of the API ─► vite build, beside the build of before ─► takes
                                 its place whole, with the digest of its sources in BUILT-FROM

Only the console needs npm.  Without it everything else works, and /ui says what is missing.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from scripts.licences import THIRD_PARTY, licences
from scripts.node import NoNode, npm, run

ROOT = Path(__file__).resolve().parents[1]
CONSOLE = ROOT / "supervisor" / "console"
API = ROOT / "docs" / "reference" / "openapi.json"
BUILT_FROM = "BUILT-FROM"
_LOCK = "package-lock.json"
_PACKAGES, _DIST, _NEXT = "node_modules", "dist", "dist.next"
_INSTALLED = ".tidegate-installed"
_NOT_SOURCES = {_PACKAGES, _DIST, _NEXT}
_BUILDERS = ("console.py", "licences.py")
_GENERATED = {"src/api/schema.ts"}
_FAILED = ".console-not-built"
_INSTALL_S, _BUILD_S = 900.0, 600.0
_SHOWN_LINES = 20
_REPAIR = "python -m scripts.console"


class NotBuilt(Exception):
    """The console could not be built; the message says why, and what to do."""


def source_files() -> list[Path]:
    """Return what the build is made from, sorted: also the description of the API."""
    found = [API, *(ROOT / "scripts" / name for name in _BUILDERS)]
    for folder, folders, names in os.walk(CONSOLE):
        folders[:] = [name for name in folders if name not in _NOT_SOURCES]
        found += [Path(folder) / name for name in names]
    generated = {CONSOLE / name for name in _GENERATED}
    return sorted(path for path in found if path not in generated)


def source_digest() -> str:
    """Return the digest of what the build is made from."""
    digest = hashlib.sha256()
    for path in source_files():
        digest.update(f"{path.relative_to(ROOT)}\0{path.stat().st_size}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def built_from(folder: Path = CONSOLE / _DIST) -> str | None:
    """Return the digest of the sources of a build; None: there is no build."""
    try:
        return (folder / BUILT_FROM).read_text().strip()
    except FileNotFoundError:
        return None


def build(into: Path) -> None:
    """Build from the installed packages into a folder, which is emptied.

    Raises:
        NotBuilt: a source has an error.
    """
    _step("npm run types", npm("run", "types"), _BUILD_S)
    to = os.path.relpath(into, CONSOLE)
    arguments = ("run", "build", "--", "--outDir", to, "--emptyOutDir")
    _step("npm run build", npm(*arguments), _BUILD_S)
    (into / THIRD_PARTY).write_text(licences(CONSOLE))


def make() -> None:
    """Install what is locked and build, each only if its sources have changed.

    Raises:
        NotBuilt: npm or its registry cannot be reached, or a source has an error.
        NoNode: this environment has no Node.
    """
    digest = source_digest()
    if built_from() == digest:
        return
    _install()
    _say("building the console")
    following = CONSOLE / _NEXT
    build(following)
    (following / BUILT_FROM).write_text(f"{digest}\n")
    shutil.rmtree(CONSOLE / _DIST, ignore_errors=True)
    following.rename(CONSOLE / _DIST)
    _say(f"the console is built: {(CONSOLE / _DIST).relative_to(ROOT)}")


def _install() -> None:
    lock = hashlib.sha256((CONSOLE / _LOCK).read_bytes()).hexdigest()
    installed = CONSOLE / _PACKAGES / _INSTALLED
    if installed.is_file() and installed.read_text() == lock:
        return
    _say("installing what supervisor/console/package-lock.json lists (a minute, once)")
    _step("npm ci", npm("ci", "--ignore-scripts", "--no-audit", "--no-fund"), _INSTALL_S)
    installed.write_text(lock)  # last: an installation that was interrupted is done again


def _step(name: str, command: Sequence[str], timeout_s: float) -> None:
    try:
        ended = run(*command, folder=CONSOLE, timeout_s=timeout_s)
    except subprocess.TimeoutExpired as error:
        raise NotBuilt(f"`{name}` did not end within {error.timeout:g} s") from error
    if ended.returncode != 0:
        lines = [line for line in ended.stdout.splitlines() if not line.startswith("npm warn")]
        raise NotBuilt("\n".join([f"`{name}` failed:", *lines[:_SHOWN_LINES]]))


@contextmanager
def _only_one() -> Iterator[None]:
    """Wait until no other process builds in this checkout; the lock ends with its process."""
    with (ROOT / ".console.lock").open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def main(arguments: Sequence[str]) -> int:
    """Build the console; return 1 if it could not be built, with `--setup` 0."""
    as_setup = "--setup" in arguments
    failed = CONSOLE / _PACKAGES / _FAILED
    if as_setup and failed.is_file() and failed.read_text() == source_digest():
        _say(f"the console is still not built; to try again: {_REPAIR}")
        return 0
    try:
        make()
    except (NotBuilt, NoNode) as error:
        _say(str(error))
        _say("the console is not built: /ui says so, everything else works")
        _say(f"it needs npm's registry, as npm is set up on this machine; to try again: {_REPAIR}")
        failed.parent.mkdir(exist_ok=True)
        failed.write_text(source_digest())
        return 0 if as_setup else 1
    failed.unlink(missing_ok=True)
    return 0


def _say(text: str) -> None:
    print(f"console: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    with _only_one():
        sys.exit(main(sys.argv[1:]))
