"""`tidegate verify --files` against a real overlord's database and a real folder."""

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from supervisor.core.tables.exports import Export
from supervisor.core.values.export_formats import ExportFormat
from supervisor.views.lenient import lenient
from supervisor.views.tables.warehouse import WarehouseFiles
from tasks.contract.messages import PublishOutcome
from tests.conformance.stories import MINUTE, NOON, take_lease
from tests.sqlite_memory import empty_file
from tests.supervisor.api.world import a_world
from tests.supervisor.cli.conftest import Ended, Tidegate
from tests.supervisor.cli.overlord import Overlord, Reply
from tests.supervisor.cli.table.tables import Publisher
from tests.supervisor.cli.table.warehouses import TABLE, Warehouse, folder_of

Verify = Callable[..., Ended]


@pytest.fixture(scope="module")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return empty_file(tmp_path_factory.mktemp("migrated") / "metadata.db")


@pytest.fixture
def warehouse(tmp_path: Path, migrated: Path, server: Overlord) -> Iterator[Warehouse]:
    """One published file; the overlord that answers does not lead: rows are enough."""
    root = tmp_path / "warehouse"
    root.mkdir()
    with a_world(tmp_path, migrated, leads=False) as world:
        created = Warehouse(root, world, take_lease(world.store))
        server.ask = created.answer
        created.published()
        yield created


@pytest.fixture
def verify(tidegate: Tidegate, warehouse: Warehouse) -> Verify:
    return lambda *options: tidegate(
        "verify", "--files", "--warehouse", str(warehouse.root), *options
    )


def kinds(ended: Ended) -> list[tuple[str, str]]:
    """The findings of a table, as (kind, path)."""
    lines = ended.out.splitlines()[:-1]
    rows = [line.split() for line in lines if line]
    return [(row[0], row[1]) for row in rows[1:]]


def summary(ended: Ended) -> str:
    return ended.out.splitlines()[-1]


def test_files_as_recorded_pass(verify: Verify, warehouse: Warehouse) -> None:
    task = warehouse.start("a.parquet", "b.parquet", "rejects.parquet")
    warehouse.publish(task, "a.parquet", "b.parquet", rejects="rejects.parquet")
    warehouse.write(f"{TABLE}/README.txt", b"Only the published list")
    warehouse.write(f"{TABLE}/.README.txt.{task}", b"Only the pub")

    ended = verify("--strict")

    assert (ended.code, kinds(ended)) == (0, [])
    assert summary(ended) == ("4 files, 67 B: as recorded; 0 being written, 0 pending, 0 kept")


def _remove(path: Path) -> None:
    path.unlink()


def _flip_a_byte(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[3] ^= 1
    path.write_bytes(content)


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def _link(path: Path) -> None:
    elsewhere = path.rename(path.parents[4] / "elsewhere.parquet")
    path.symlink_to(elsewhere)


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize(
    ("harm", "kind"),
    [
        (_remove, "missing"),
        (_flip_a_byte, "damaged"),
        (_cut, "damaged"),
        (_link, "damaged"),
        (_pipe, "damaged"),
    ],
)
def test_a_harmed_file_is_listed(
    verify: Verify, warehouse: Warehouse, harm: Callable[[Path], None], kind: str
) -> None:
    harmed = warehouse.published()
    harm(harmed)

    ended = verify()

    assert ended.code == 1
    assert kinds(ended) == [(kind, str(harmed.relative_to(warehouse.root)))]
    assert summary(ended).startswith("1 files, ")
    assert summary(ended).endswith(f"; 1 finding: 1 {kind}")


def test_a_folder_that_became_a_link_is_never_followed(
    verify: Verify, warehouse: Warehouse, tmp_path: Path
) -> None:
    """Goal: what lies elsewhere is not the table, even if it is the same bytes."""
    harmed = warehouse.published()
    (tmp_path / "outside").mkdir()
    moved = harmed.parent.rename(tmp_path / "outside" / "moved")
    (moved / "more").write_bytes(b"not ours")
    harmed.parent.symlink_to(moved)

    ended = verify()

    folder = str(harmed.parent.relative_to(warehouse.root))
    assert ended.code == 1
    assert kinds(ended) == [("orphan", folder), ("damaged", f"{folder}/{harmed.name}")]


def test_without_digests_sizes_alone_are_compared(verify: Verify, warehouse: Warehouse) -> None:
    flipped, cut = warehouse.published(), warehouse.published()
    _flip_a_byte(flipped)
    quick = verify("--no-digest")
    _cut(cut)

    ended = verify("--no-digest")

    assert (quick.code, ended.code) == (0, 1)
    assert "as large as recorded, contents not compared" in summary(quick)
    assert kinds(ended) == [("damaged", str(cut.relative_to(warehouse.root)))]


@pytest.mark.parametrize(
    "path", ["stray.txt", f"{TABLE}/data/never-a-task/part-0.parquet", f"{TABLE}/data/x"]
)
def test_an_orphan_is_listed(verify: Verify, warehouse: Warehouse, path: str) -> None:
    warehouse.write(path, b"left behind")

    ended = verify()

    assert (ended.code, kinds(ended)) == (1, [("orphan", path)])


def test_a_link_is_an_orphan(verify: Verify, warehouse: Warehouse, tmp_path: Path) -> None:
    active = warehouse.start()
    (warehouse.root / folder_of(active)).mkdir()
    path = f"{folder_of(active)}/part-0.parquet"
    (warehouse.root / path).symlink_to(tmp_path / "nowhere")

    ended = verify()

    assert (ended.code, kinds(ended)) == (1, [("orphan", path)])


def test_what_an_active_task_writes_is_no_finding(verify: Verify, warehouse: Warehouse) -> None:
    warehouse.start("part-0.parquet", "_temporary/0/part-1.parquet")

    ended = verify("--strict")

    assert (ended.code, kinds(ended)) == (0, [])
    assert "; 2 being written, 0 pending, 0 kept" in summary(ended)


@pytest.mark.parametrize(
    ("outcome", "counted", "kind"),
    [
        (None, "1 pending, 0 kept", "pending"),
        (PublishOutcome.ALREADY_PUBLISHED, "1 pending, 0 kept", "pending"),
        (PublishOutcome.STALE, "0 pending, 1 kept", "kept"),
    ],
)
def test_what_an_ended_task_left_is_counted_and_refused_if_strict(
    verify: Verify,
    warehouse: Warehouse,
    outcome: PublishOutcome | None,
    counted: str,
    kind: str,
) -> None:
    ended_task = warehouse.start("part-0.parquet")
    warehouse.end(ended_task, outcome=outcome)

    lenient, strict = verify(), verify("--strict")

    assert (lenient.code, kinds(lenient)) == (0, [])
    assert (strict.code, kinds(strict)) == (1, [(kind, f"{folder_of(ended_task)}/")])
    assert counted in summary(lenient)


def test_what_a_settled_task_left_is_an_orphan(verify: Verify, warehouse: Warehouse) -> None:
    """Goal: once the event queue says that a folder is empty for good, it has to be."""
    task = warehouse.start("published.parquet", "batch.parquet")
    warehouse.publish(task, "published.parquet")
    pending = verify()
    warehouse.end(task, settled=True)

    ended = verify()

    assert (pending.code, ended.code) == (0, 1)
    assert kinds(ended) == [("orphan", f"{folder_of(task)}/batch.parquet")]


def test_an_unused_segment_still_has_its_file_a_deleted_one_has_not(
    verify: Verify, warehouse: Warehouse
) -> None:
    task = warehouse.start("part-0.parquet")
    [published] = warehouse.publish(task, "part-0.parquet")
    warehouse.end(task, settled=True)
    warehouse.change(lambda tx: tx.segments.mark_unused([published.id], NOON))
    unused = verify()
    warehouse.change(lambda tx: tx.segments.condemn(published.id, NOON, NOON + MINUTE))
    condemned = verify()
    (warehouse.root / published.file.path).unlink()

    gone = verify()

    assert (unused.code, kinds(unused)) == (0, [])
    assert summary(unused).startswith("2 files, ")
    assert (condemned.code, kinds(condemned)) == (1, [("orphan", published.file.path)])
    assert (gone.code, kinds(gone)) == (0, [])


@pytest.mark.parametrize("enabled", [True, False])
def test_the_logs_of_exports_are_the_tables_own(
    verify: Verify, warehouse: Warehouse, enabled: bool
) -> None:
    """Goal: also of one that is switched off, for it stays; of no format that none asked for."""
    delta = Export(TABLE, ExportFormat.DELTA, enabled=enabled)
    logs = ("_delta_log/00000000000000000000.json", "metadata/00000.metadata.json")
    foreign = ("part-00000.parquet", "_delta_log.json", "data/_delta_log/x")
    for name in (*logs, *foreign):
        warehouse.write(f"{TABLE}/{name}", b"{}")
    warehouse.change(lambda tx: tx.exports.put(delta))
    one = verify("--strict")
    warehouse.change(lambda tx: tx.exports.put(replace(delta, format=ExportFormat.ICEBERG)))

    ended = verify("--strict", "-o", "json")

    orphans = {("orphan", f"{TABLE}/{name}") for name in foreign}
    assert (one.code, set(kinds(one))) == (1, orphans | {("orphan", f"{TABLE}/{logs[1]}")})
    verdict = ended.json()
    assert isinstance(verdict, dict)
    assert {(found["kind"], found["path"]) for found in verdict["findings"]} == orphans
    assert verdict["exports"] == {"files": 2, "sizeBytes": 4}


# -- while things happen ---------------------------------------------------------------------------


def test_a_file_that_is_written_and_published_while_we_look_is_recorded(
    verify: Verify, warehouse: Warehouse
) -> None:
    def publishes() -> None:
        task = warehouse.start("late.parquet")
        warehouse.publish(task, "late.parquet")

    warehouse.meanwhile = [publishes]

    ended = verify("--strict")

    assert (ended.code, kinds(ended)) == (0, [])
    assert summary(ended).startswith("2 files, ")


def test_a_task_that_publishes_between_walk_and_answer_has_no_orphan(
    verify: Verify, warehouse: Warehouse
) -> None:
    task = warehouse.start("part-0.parquet")
    warehouse.meanwhile = [lambda: warehouse.publish(task, "part-0.parquet")]

    ended = verify("--strict")

    assert (ended.code, kinds(ended)) == (0, [])


def test_a_folder_that_is_deleted_and_settled_between_walk_and_answer_is_no_orphan(
    verify: Verify, warehouse: Warehouse
) -> None:
    task = warehouse.start("part-0.parquet")

    def settles() -> None:
        (warehouse.root / folder_of(task) / "part-0.parquet").unlink()
        warehouse.end(task, settled=True)

    warehouse.meanwhile = [settles]

    ended = verify("--strict")

    assert (ended.code, kinds(ended)) == (0, [])
    assert summary(ended) == ("1 files, 19 B: as recorded; 0 being written, 0 pending, 0 kept")


def test_a_file_that_is_dropped_between_answer_and_reading_is_not_missing(
    verify: Verify, warehouse: Warehouse
) -> None:
    """Goal: a named file that is not there is asked for again before it is called missing."""
    task = warehouse.start("part-0.parquet")
    [published] = warehouse.publish(task, "part-0.parquet")
    warehouse.end(task, settled=True)
    (warehouse.root / published.file.path).unlink()

    def dropped() -> None:
        warehouse.change(lambda tx: tx.segments.mark_unused([published.id], NOON))
        warehouse.change(lambda tx: tx.segments.condemn(published.id, NOON, NOON + MINUTE))

    warehouse.meanwhile = [lambda: None, dropped]

    ended = verify()

    assert (ended.code, kinds(ended)) == (0, [])
    assert summary(ended).startswith("1 files, ")
    assert warehouse.meanwhile == []


# -- how it is asked -------------------------------------------------------------------------------


def test_the_verdict_as_json(verify: Verify, warehouse: Warehouse) -> None:
    (warehouse.root / os.fsdecode(b"caf\xe9")).write_bytes(b"x")
    (warehouse.root / TABLE / "data" / "empty").mkdir()

    ended = verify("-o", "json")

    verdict = ended.json()
    assert isinstance(verdict, dict)
    assert ended.code == 1
    assert (verdict["recorded"], verdict["emptyFolders"]) == ({"files": 1, "sizeBytes": 19}, 1)
    assert [(f["kind"], f["path"]) for f in verdict["findings"]] == [("orphan", "caf\\xe9")]


def test_the_warehouse_is_looked_for_where_the_overlord_has_it(
    tidegate: Tidegate, server: Overlord, tmp_path: Path
) -> None:
    claim = lenient(WarehouseFiles).model_validate({"warehouse": str(tmp_path), "files": []})
    server.on("GET", "/api/v1/files", Reply(claim.model_dump(mode="json")))
    (tmp_path / "stray").write_bytes(b"x")

    ended = tidegate("verify", "--files")

    assert (ended.code, kinds(ended)) == (1, [("orphan", "stray")])


def test_a_warehouse_that_is_not_mounted_here_is_no_empty_one(
    tidegate: Tidegate, warehouse: Warehouse
) -> None:
    ended = tidegate("verify", "--files", "--warehouse", str(warehouse.root / "elsewhere"))

    assert (ended.code, ended.out) == (1, "")
    assert "not to be seen from here" in ended.err


def test_both_proofs_are_made_and_either_can_fail(
    tidegate: Tidegate, server: Overlord, tmp_path: Path
) -> None:
    """Goal: one command for both; nothing was committed, so no broker is needed."""
    publisher = Publisher(tmp_path / "warehouse")
    (tmp_path / "warehouse").mkdir()
    server.on("GET", "/api/v1/supervisors/clicks/ledger", Reply(publisher.ledger()))
    claim = lenient(WarehouseFiles).model_validate(
        {"warehouse": str(publisher.warehouse), "files": []}
    )
    server.on("GET", "/api/v1/files", Reply(claim.model_dump(mode="json")))
    good = tidegate("verify", "clicks", "--files")
    (publisher.warehouse / "stray").write_bytes(b"x")

    bad = tidegate("verify", "clicks", "--files", "-o", "json")

    assert (good.code, bad.code) == (0, 1)
    assert "0 files, 0 B: as recorded" in good.out
    assert "clicks: proven" in good.out
    verdicts = bad.json()
    assert isinstance(verdicts, dict)
    assert verdicts["table"]["verdict"] == "proven"
    assert [found["path"] for found in verdicts["files"]["findings"]] == ["stray"]


@pytest.mark.parametrize("options", [(), ("--strict",), ("clicks", "--no-digest")])
def test_what_to_verify_has_to_be_said(tidegate: Tidegate, options: tuple[str, ...]) -> None:
    ended = tidegate("verify", *options)

    assert (ended.code, ended.out) == (2, "")
    assert "--files" in ended.err
