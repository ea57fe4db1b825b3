"""`tidegate verify --files`: compare the warehouse with the files that the database names."""

from collections.abc import Iterator
from pathlib import Path

from supervisor.cli.shell.client import Client
from supervisor.cli.shell.output import print_notice, progress_bar, show_table, show_text, size
from supervisor.verify.inventory import FileFindingKind, Inventory, Place, shown
from supervisor.views.tables.warehouse import WarehouseFiles

FILES = "/api/v1/files"
_WAITING = {
    Place.PENDING: "an ended task's; the event queue has not settled it yet",
    Place.KEPT: "kept for people to look at: its publish was judged stale",
}


def take_stock(client: Client, warehouse: Path | None, *, digests: bool) -> Inventory:
    """Compare a warehouse, by default at the overlord's path, with the overlord's answer.

    Raises:
        SetupProblem: the warehouse cannot be read here.
    """
    from supervisor.verify.warehouse import (  # Arrow is loaded only when asked
        FilesProgress,
        inspect,
    )

    def ask() -> WarehouseFiles:
        return client.get(FILES).read(WarehouseFiles, whole=True)

    root = Path(ask().warehouse) if warehouse is None else warehouse
    with progress_bar(of_bytes=True) as bar:
        task = bar.add_task("files", total=None)
        steps = FilesProgress(
            lambda total: bar.update(task, total=total), lambda more: bar.advance(task, more)
        )
        return inspect(root, ask, steps, digests=digests)


def is_sound(inventory: Inventory, *, strict: bool) -> bool:
    """Whether there is no finding and, with `strict`, no pending or kept file."""
    return not (inventory.findings or (strict and inventory.waiting))


def show_inventory(inventory: Inventory, *, strict: bool) -> None:
    """Print the findings, and one line of numbers."""
    rows = [*_finding_rows(inventory), *(_waiting_rows(inventory) if strict else ())]
    if rows:
        show_table(("FINDING", "PATH", "SIZE", "TASK", "DETAIL"), rows)
        show_text("")
    if inventory.empty_folders:
        print_notice(f"note: {inventory.empty_folders} empty folders")
    show_text(summary_of(inventory))


def summary_of(inventory: Inventory) -> str:
    """Return the last line of the answer, with the numbers of files."""
    recorded = inventory.piles[Place.RECORDED]
    proof = "as recorded" if inventory.digests else "as large as recorded, contents not compared"
    text = (
        f"{recorded.files:,} files, {size(recorded.size_bytes)}: {proof}; "
        f"{inventory.piles[Place.WRITING].files:,} being written, "
        f"{inventory.piles[Place.PENDING].files:,} pending, "
        f"{inventory.piles[Place.KEPT].files:,} kept"
    )
    if inventory.findings:
        counted = ((inventory.count(kind), kind.value) for kind in FileFindingKind)
        named = ", ".join(f"{count:,} {name}" for count, name in counted if count)
        count = len(inventory.findings)
        text += f"; {count:,} finding{'s' if count > 1 else ''}: {named}"
    return text


def _finding_rows(inventory: Inventory) -> Iterator[tuple[object, ...]]:
    for each in inventory.findings:
        yield each.kind.value, shown(each.path), size(each.size_bytes), each.task_id, each.detail


def _waiting_rows(inventory: Inventory) -> Iterator[tuple[object, ...]]:
    for folder, place in sorted(inventory.waiting.items()):
        yield place.value, f"{folder}/", None, folder.rpartition("/")[2], _WAITING[place]
