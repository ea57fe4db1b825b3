"""One story for each warehouse: what is there, what goes, what is never followed."""

from pathlib import Path

import pytest

from supervisor.adapters.tables.memory_warehouse import MemoryWarehouse
from supervisor.adapters.tables.warehouse import LocalWarehouse
from supervisor.core.values.errors import StorageUnavailable
from supervisor.ports.tables.warehouse import Warehouse

TASK = "clicks/data/task-1"


class Site:
    """A warehouse, and hands that put things into it."""

    def __init__(self, root: Path | None) -> None:
        self.root = root
        self.memory = MemoryWarehouse()
        if root is not None:
            root.mkdir()
            (root.parent / "outside").mkdir()
            (root.parent / "outside" / "precious").write_text("precious")

    @property
    def port(self) -> Warehouse:
        return self.memory if self.root is None else LocalWarehouse(self.root)

    def write(self, path: str) -> str:
        if self.root is None:
            return self.memory.write(path, len(path))
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(path)
        return path

    def make_folder(self, folder: str) -> None:
        if self.root is None:
            self.memory.make_folder(folder)
        else:
            (self.root / folder).mkdir(parents=True)

    def link(self, path: str) -> str:
        """Put a link there, to a folder outside in which there is a file."""
        if self.root is None:
            self.memory.link(path)
        else:
            place = self.root / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(self.root.parent / "outside")
        return path

    def holds(self, path: str) -> bool:
        if self.root is None:
            return self.memory.holds(path)
        return (self.root / path).exists() or (self.root / path).is_symlink()

    def outside_is_untouched(self) -> bool:
        return self.root is None or (self.root.parent / "outside" / "precious").exists()


@pytest.fixture(params=["memory", "local"])
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Site:
    """Each kind of warehouse, bare."""
    return Site(None if request.param == "memory" else tmp_path / "warehouse")


def test_files_are_found_at_any_depth_and_in_order(site: Site) -> None:
    deep = site.write(f"{TASK}/b0-1/c/part-1.parquet")
    flat = site.write(f"{TASK}/a.parquet")
    site.write("clicks/data/task-10/other.parquet")
    site.write("clicks/README.txt")
    site.make_folder(f"{TASK}/empty")

    assert site.port.files_under(TASK) == [flat, deep]


def test_what_is_missing_has_no_files_and_is_pruned_already(site: Site) -> None:
    assert site.port.files_under(TASK) == []
    assert not site.port.prune(TASK)


def test_a_file_is_deleted_and_its_folder_stays(site: Site) -> None:
    file = site.write(f"{TASK}/b0-1/part-0.parquet")
    other = site.write(f"{TASK}/b0-1/part-1.parquet")

    site.port.delete_file(file)

    assert site.port.files_under(TASK) == [other]
    site.port.delete_file(other)
    assert site.holds(f"{TASK}/b0-1")


def test_a_missing_file_is_deleted_already(site: Site) -> None:
    site.port.delete_file(f"{TASK}/part-0.parquet")
    file = site.write(f"{TASK}/part-0.parquet")
    site.port.delete_file(file)

    site.port.delete_file(file)

    assert not site.holds(file)


def test_empty_folders_go_from_the_bottom_up_and_no_others(site: Site) -> None:
    kept = site.write(f"{TASK}/kept/part-0.parquet")
    site.make_folder(f"{TASK}/a/b/c")
    sibling = "clicks/data/task-2"
    site.make_folder(sibling)

    assert site.port.prune(TASK)

    assert [site.holds(f"{TASK}/{name}") for name in ("a", "a/b", "a/b/c")] == [False] * 3
    assert site.holds(kept)
    assert site.holds(sibling)
    assert not site.port.prune(TASK)


def test_a_folder_that_is_empty_itself_goes_and_its_parent_stays(site: Site) -> None:
    site.make_folder(f"{TASK}/a")

    assert site.port.prune(TASK)

    assert not site.holds(TASK)
    assert site.holds("clicks/data")


def test_a_link_is_a_file_and_is_not_followed(site: Site) -> None:
    link = site.link(f"{TASK}/b0-1/link")

    assert site.port.files_under(TASK) == [link]
    assert not site.port.prune(TASK)
    site.port.delete_file(link)

    assert site.port.files_under(TASK) == []
    assert site.port.prune(TASK)
    assert site.outside_is_untouched()


def test_behind_a_link_in_a_folders_place_is_nothing(site: Site) -> None:
    link = site.link(TASK)

    assert site.port.files_under(TASK) == []
    assert not site.port.prune(TASK)
    site.port.delete_file(f"{TASK}/precious")

    assert site.holds(link)
    assert site.outside_is_untouched()


def test_task_folders_are_those_in_the_data_folder_of_a_table(site: Site) -> None:
    site.write(f"{TASK}/b0-1/part-0.parquet")
    site.make_folder("clicks/data/task-2")
    site.write("clicks/data/stray.txt")
    site.write("clicks/README.txt")
    site.make_folder("clicks/other/task-3")
    site.make_folder("views/data/task-4")
    site.link("clicks/data/task-5")
    site.write("lost+found")

    assert sorted(site.port.task_folders()) == [
        ("clicks", "task-1"),
        ("clicks", "task-2"),
        ("views", "task-4"),
    ]
    assert sorted(site.port.task_folders("clicks")) == [("clicks", "task-1"), ("clicks", "task-2")]
    assert list(site.port.task_folders("never")) == []
    assert {"clicks", "views"} <= set(site.port.tables())


def test_a_warehouse_has_the_owner_that_it_was_marked_with_last(site: Site) -> None:
    assert site.port.owner() is None
    site.port.mark("one")
    assert site.port.owner() == "one"
    site.port.mark("another")
    assert site.port.owner() == "another"
    site.port.available()


def test_a_marker_is_no_task_folder(site: Site) -> None:
    site.port.mark("one")
    assert list(site.port.task_folders()) == []


# -------------------------------------------------------------- storage that is not there


def test_a_root_that_is_missing_is_unavailable_not_empty(tmp_path: Path) -> None:
    """Goal: a warehouse that is not mounted is not taken for one without files."""
    warehouse = LocalWarehouse(tmp_path / "missing")

    for look in (warehouse.available, warehouse.owner, lambda: list(warehouse.task_folders())):
        with pytest.raises(StorageUnavailable, match="missing"):
            look()


def test_a_root_that_is_no_folder_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")

    with pytest.raises(StorageUnavailable, match="Not a directory"):
        LocalWarehouse(tmp_path / "file").available()


def test_a_table_that_is_a_link_is_not_searched(tmp_path: Path) -> None:
    """Goal: folders without a row are deleted only where they are the warehouse's for sure."""
    site = Site(tmp_path / "warehouse")
    (tmp_path / "outside" / "data" / "task-1").mkdir(parents=True)
    site.link("clicks")
    (tmp_path / "warehouse" / "views").mkdir()
    (tmp_path / "warehouse" / "views" / "data").symlink_to(tmp_path / "outside" / "data")

    assert list(site.port.task_folders()) == []
    assert list(site.port.task_folders("clicks")) == []
    assert "clicks" not in site.port.tables()


def test_a_root_that_is_a_link_is_the_folder_it_leads_to(tmp_path: Path) -> None:
    """Goal: operators may put the warehouse, or a table, on another disk."""
    site = Site(tmp_path / "disk")
    (tmp_path / "warehouse").symlink_to(tmp_path / "disk")
    file = site.write(f"{TASK}/part-0.parquet")
    warehouse = LocalWarehouse(tmp_path / "warehouse")

    assert warehouse.files_under(TASK) == [file]
    assert list(warehouse.task_folders()) == [("clicks", "task-1")]
    warehouse.delete_file(file)

    assert not site.holds(file)


def test_a_file_that_cannot_be_deleted_is_told(site: Site) -> None:
    """Goal: what is still there is never taken for deleted."""
    file = site.write(f"{TASK}/part-0.parquet")
    site.memory.fail_deletions(file, times=1)
    stubborn = file if site.root is None else TASK  # a folder is no file

    with pytest.raises(OSError, match="task-1"):
        site.port.delete_file(stubborn)

    assert site.holds(file)


@pytest.mark.parametrize(
    "path", ["../outside/precious", "/etc/passwd", "clicks//data", "a/./b", ""]
)
def test_a_path_that_leads_out_of_the_warehouse_is_a_bug(tmp_path: Path, path: str) -> None:
    site = Site(tmp_path / "warehouse")

    for use in (site.port.delete_file, site.port.files_under, site.port.prune):
        with pytest.raises(AssertionError, match="does not lie in the warehouse"):
            use(path)

    assert site.outside_is_untouched()


def test_memory_that_is_down_answers_nothing() -> None:
    memory = MemoryWarehouse()
    memory.go_down("gone")

    with pytest.raises(StorageUnavailable, match="gone"):
        memory.available()
    with pytest.raises(OSError, match="gone"):
        memory.files_under(TASK)


def test_a_file_has_its_size_and_nothing_else_has_one(site: Site) -> None:
    """Goal: what is published is there; a link is no file of the warehouse."""
    path = site.write(f"{TASK}/segment-0.parquet")
    site.link("clicks/data/task-2")

    assert site.port.size_of(path) == len(path)
    assert site.port.size_of(f"{TASK}/segment-1.parquet") is None
    assert site.port.size_of(f"{path}/below") is None
    assert site.port.size_of(TASK) is None
    assert site.port.size_of("clicks/data/task-2") is None
    assert site.port.size_of("clicks/data/task-2/precious") is None


def test_without_its_root_no_file_is_said_to_be_absent(tmp_path: Path) -> None:
    """Goal: a warehouse that is not mounted fails no task."""
    memory = MemoryWarehouse()
    memory.go_down()
    for port in (memory, LocalWarehouse(tmp_path / "not mounted")):
        with pytest.raises(StorageUnavailable):
            port.size_of(f"{TASK}/segment-0.parquet")
