"""A small file system for tests that fill it; needs the right to mount."""

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path


@contextmanager
def mounted(folder: Path, *, size: str) -> Iterator[None]:
    """Have `folder` be a file system of this size, such as `1m`, in memory."""
    _run("mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder))
    try:
        yield
    finally:
        _run("umount", "--lazy", str(folder))


def make_read_only(folder: Path) -> None:
    """Take nothing more in a folder that is `mounted`."""
    _run("mount", "-o", "remount,ro", str(folder))


def _run(*argv: str) -> None:
    subprocess.run(argv, check=True, capture_output=True)


@cache
def can_mount() -> bool:
    """Whether this process may."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            with mounted(Path(folder), size="64k"):
                return True
        except (OSError, subprocess.CalledProcessError):
            return False
