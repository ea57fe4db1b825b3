"""Chromium for tests, as an npm package ships it: fetched and unpacked once into the tests' cache.

python -m tests.environment.chromium     does that beforehand, and prints its path

    tests/browser/package-lock.json ─► npm ci ─► brotli ─► chromium   a headless shell
                                                           lib/       nss and nspr, which it needs
                                                           fonts/     so that texts have a shape

TIDEGATE_TEST_BROWSER names another Chromium instead: the package has one for x86_64 alone.
Only the package's files are used.  The arguments that it proposes switch the web's security off.
"""

import fcntl
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from scripts.node import node_folder, npm, run
from tests.environment.brokers import shared_cache_dir

VARIABLE = "TIDEGATE_TEST_BROWSER"
ARGUMENTS = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
"""Without them it asks hosts of its maker."""
_PACKAGE = Path(__file__).parents[1] / "browser"
_FETCH_S, _UNPACK_S = 900.0, 300.0
_FONTS = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir prefix="relative">fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
"""
"""Instead of the package's, which looks where its own machines have fonts."""
_BROTLI = """
const [from, to] = process.argv.slice(1);
const fs = require('node:fs'), zlib = require('node:zlib');
require('node:stream').pipeline(
  fs.createReadStream(from), zlib.createBrotliDecompress(), fs.createWriteStream(to),
  (error) => { if (error) throw error; });
"""


@dataclass(frozen=True)
class Chromium:
    """A browser's program, and what its process needs in its environment."""

    program: Path
    environment: Mapping[str, str] = field(default_factory=dict)


class NoBrowser(Exception):
    """There is no browser for the tests; the message says what to do."""


def ensure_chromium() -> Chromium:
    """Return the browser of the tests; fetch and unpack it unless it is there.

    Raises:
        NoBrowser: it cannot be had.
    """
    named = os.environ.get(VARIABLE)
    if named:
        if not os.access(named, os.X_OK):
            raise NoBrowser(f"{VARIABLE} names {named}, which is no program")
        return Chromium(Path(named))
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        raise NoBrowser(f"install Chromium (Debian: apt-get install chromium), set {VARIABLE}")
    sources = (_PACKAGE / "package-lock.json").read_bytes() + _FONTS.encode()
    digest = sha256(sources).hexdigest()[:12]
    folder = shared_cache_dir() / "chromium" / digest
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / ".lock").open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        if not folder.is_dir():
            _make(folder)
    return Chromium(
        folder / "chromium",
        {
            "LD_LIBRARY_PATH": str(folder / "al2023" / "lib"),
            "FONTCONFIG_PATH": str(folder / "fonts"),
            "XDG_CACHE_HOME": str(folder / "cache"),
        },
    )


def _make(folder: Path) -> None:
    """Fetch and unpack beside the folder's place; it takes the place last, whole."""
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".making-") as name:
        making = Path(name)
        for file in ("package.json", "package-lock.json", ".npmrc"):
            shutil.copy(_PACKAGE / file, making)
        _run("npm ci", npm("ci", "--ignore-scripts"), making, _FETCH_S)
        packed = making / "node_modules/@sparticuz/chromium/bin"
        whole = making / "whole"
        whole.mkdir()
        _unpack(packed / "chromium.br", whole / "chromium")
        (whole / "chromium").chmod(0o755)
        for part in ("al2023", "fonts"):
            _unpack(packed / f"{part}.tar.br", making / f"{part}.tar")
            with tarfile.open(making / f"{part}.tar") as archive:
                archive.extractall(whole / part, filter="data")
        (whole / "fonts" / "fonts.conf").write_text(_FONTS)
        whole.rename(folder)


def _unpack(source: Path, to: Path) -> None:
    node = str(node_folder() / "bin" / "node")
    _run(f"unpacking {source.name}", (node, "-e", _BROTLI, str(source), str(to)), None, _UNPACK_S)


def _run(name: str, command: tuple[str, ...], folder: Path | None, timeout_s: float) -> None:
    try:
        ended = run(*command, folder=folder or Path.cwd(), timeout_s=timeout_s)
    except subprocess.TimeoutExpired as error:
        raise NoBrowser(f"{name} did not end within {timeout_s:g} s") from error
    if ended.returncode != 0:
        raise NoBrowser(
            f"{name} failed: the tests' browser comes from npm's registry, or {VARIABLE} names "
            f"one of this machine\n{ended.stdout[-2_000:]}"
        )


if __name__ == "__main__":
    try:
        print(ensure_chromium().program)  # noqa: T201 -- a command prints its answer
    except NoBrowser as no_browser:
        sys.exit(f"no browser for the tests: {no_browser}")
