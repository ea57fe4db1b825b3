"""Making files and folders that survive a crash: what fsync has to be called on, in one place."""

import os
from pathlib import Path


def sync_folder(folder: Path) -> None:
    """Make the names in `folder` durable: those made, renamed and removed in it."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folder(folder: Path) -> None:
    """Create `folder` with its missing parents, each durable in its own parent."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    sync_folder(folder.parent)


def replace_file(path: Path, content: bytes) -> None:
    """Give `path` this content, durably: after a crash it holds the old one or the new one."""
    half = path.with_name(f"{path.name}.new")
    with half.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    half.replace(path)
    sync_folder(path.parent)
