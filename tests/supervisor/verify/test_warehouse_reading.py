"""What is read of a warehouse: the walk, and what is at the paths that the database names."""

import hashlib
import os
from pathlib import Path

import pytest

from supervisor.settings.problems import SetupProblem
from supervisor.verify.inventory import PathContent, total_bytes
from supervisor.verify.warehouse import FilesProgress, contents, inspect, walk
from supervisor.views.lenient import lenient
from supervisor.views.tables.warehouse import WarehouseFile, WarehouseFiles


def named(path: str, content: bytes = b"0123456789") -> WarehouseFile:
    digest = hashlib.sha256(content).hexdigest()
    return WarehouseFile(path=path, size_bytes=len(content), sha256=digest, task_id="")


def test_the_walk_finds_everything_and_follows_no_link(tmp_path: Path) -> None:
    root = tmp_path / "warehouse"
    (root / "clicks/data/t1/empty").mkdir(parents=True)
    (root / "orders").mkdir()
    (root / "clicks/data/t1/part").write_bytes(b"abc")
    (root / "clicks/data/.hidden").write_bytes(b"")
    (root / "loop").symlink_to(root)
    (root / "clicks/data/gone").symlink_to(tmp_path / "nowhere")
    os.mkfifo(root / "pipe")

    walked = walk(root)

    assert walked.sizes == {"clicks/data/t1/part": 3, "clicks/data/.hidden": 0}
    assert walked.others == {"loop": "a link", "clicks/data/gone": "a link", "pipe": "a pipe"}
    assert walked.empty_folders == 2


def test_what_fsck_found_at_the_root_of_a_file_system_is_not_looked_at(tmp_path: Path) -> None:
    """Goal: a warehouse may be the root of a file system, whose own folder only root may read."""
    (tmp_path / "lost+found").mkdir()
    (tmp_path / "lost+found/#12").write_bytes(b"x")
    (tmp_path / ".tidegate/logs").mkdir(parents=True)
    (tmp_path / ".tidegate/logs/stored.seg").write_bytes(b"x")
    (tmp_path / "clicks/lost+found").mkdir(parents=True)
    (tmp_path / "clicks/lost+found/#13").write_bytes(b"x")

    assert walk(tmp_path).sizes == {"clicks/lost+found/#13": 1}


def test_a_warehouse_that_vanishes_is_no_empty_one(tmp_path: Path) -> None:
    with pytest.raises(SetupProblem):
        walk(tmp_path / "unmounted")


def test_each_named_file_is_told_as_it_is(tmp_path: Path) -> None:
    root = tmp_path / "warehouse"
    root.mkdir()
    good, short, changed = named("good"), named("short"), named("changed")
    gone, below, above = named("gone"), named("good/below-a-file"), named("../above")
    unreadable = named("x" * 300)  # no file system has such a name: opening it fails
    folder = named("folder")
    (root / "good").write_bytes(b"0123456789")
    (root / "short").write_bytes(b"012345678")
    (root / "changed").write_bytes(b"012345678X")
    (root / "folder").mkdir()
    (tmp_path / "above").write_bytes(b"0123456789")
    files = [good, short, changed, gone, below, above, unreadable, folder]
    read: list[int] = []

    by_path = contents(root, files, read.append, digests=True)

    assert by_path["good"] == PathContent(10, good.sha256)
    assert by_path["short"] == PathContent(9)
    assert by_path["changed"].sha256 not in {None, changed.sha256}
    assert "out of the warehouse" in by_path["../above"].trouble
    assert "cannot be read" in by_path["x" * 300].trouble
    assert "a folder" in by_path["folder"].trouble
    assert by_path.keys() == {"good", "short", "changed", "../above", "x" * 300, "folder"}
    assert sum(read) == total_bytes(files)


def test_many_files_are_read_and_the_bar_ends_where_it_should(tmp_path: Path) -> None:
    files = [named(f"clicks/data/t{n % 3}/{n}", f"{n}".encode()) for n in range(1_234)]
    for n, file in enumerate(files):
        place = tmp_path / file.path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(f"{n}".encode())
    claim = lenient(WarehouseFiles).model_validate(
        {"warehouse": str(tmp_path), "files": [file.model_dump() for file in files]}
    )
    totals: list[int] = []
    done: list[int] = []

    inventory = inspect(
        tmp_path, lambda: claim, FilesProgress(totals.append, done.append), digests=True
    )

    assert inventory.findings == ()
    assert totals == [sum(done)] == [total_bytes(files)]
