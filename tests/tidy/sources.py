"""Which files are checked, and what is found in one."""

import ast
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PYTHON_FOLDERS = ("supervisor", "tasks", "tests", "bench", "scripts", "alembic")
_NOT_OURS = {"node_modules", "__pycache__", "build", "dist"}
_OURS = {".ci", ".github"}


@dataclass(frozen=True)
class Finding:
    """A place that breaks a rule; `name` is the function's, or empty."""

    rule: str
    path: str
    line: int
    name: str
    message: str

    @property
    def key(self) -> tuple[str, str, str]:
        """What an entry in the list of exceptions names."""
        return (self.rule, self.path, self.name)

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message} [{self.rule}]"


@cache
def project_files() -> tuple[str, ...]:
    """Return the paths of all files that are, or would be, committed; sorted."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],  # noqa: S607 -- git of the PATH
        cwd=ROOT,
        capture_output=True,
        check=False,
        timeout=60,
    )
    found = listed.stdout.decode().split("\0") if listed.returncode == 0 else list(_walk())
    return tuple(sorted({path for path in found if path and (ROOT / path).is_file()}))


def _walk() -> Iterator[str]:
    """Yield the files of a copy without git."""
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [
            name
            for name in folders
            if name in _OURS or not (name.startswith(".") or name in _NOT_OURS)
        ]
        for name in files:
            if name.startswith(".venv"):
                continue
            yield (Path(folder) / name).relative_to(ROOT).as_posix()


def python_files(*folders: str) -> tuple[str, ...]:
    """Return the Python files below the folders; of the whole project if none is given."""
    below = tuple(f"{folder}/" for folder in folders or PYTHON_FOLDERS)
    return tuple(
        path for path in project_files() if path.endswith(".py") and path.startswith(below)
    )


def text_of(path: str) -> str | None:
    """Return a file's text, or None if it holds none (a picture, an archive)."""
    try:
        return (ROOT / path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None


@lru_cache(maxsize=1)
def nodes_of(text: str) -> tuple[ast.AST, ...]:
    """Return every node of a file's tree; the last file's is kept, for the next rule."""
    return tuple(ast.walk(ast.parse(text)))
