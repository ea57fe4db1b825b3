"""`tidegate verify --files`: is the warehouse exactly what the database names?"""

from collections.abc import Iterator
from pathlib import Path

from supervisor.cli.shell.client import Client
from supervisor.cli.shell.output import progress_bar, say, show_table, show_text, size
from supervisor.verify.inventory import Claim, FileFindingKind, Inventory, Place, shown

FILES = "/api/v1/files"
_WAITING = {
    Place.PENDING: "an ended task's; the event queue has not settled it yet",
    Place.KEPT: "kept for people to look at: its publish was judged stale",
}


def take_stock(client: Client, warehouse: Path | None, *, digests: bool) -> Inventory:
    """Compare the warehouse, by default where the overlord has it, with the overlord's answer.

    Raises:
        SetupProblem: the warehouse cannot be read here.
    """
    from supervisor.verify.warehouse import Steps, inspect  # Arrow is loaded only when asked

    def ask() -> Claim:
        return client.get(FILES).read(Claim)

    root = Path(ask().warehouse) if warehouse is None else warehouse
    with progress_bar(of_bytes=True) as bar:
        task = bar.add_task("files", total=None)
        steps = Steps(
            lambda total: bar.update(task, total=total), lambda more: bar.advance(task, more)
        )
        return inspect(root, ask, steps, digests=digests)


def stands(found: Inventory, *, strict: bool) -> bool:
    """Whether the answer is yes: no finding and, `strict`, nothing that waits."""
    return not (found.findings or (strict and found.waiting))


def show_inventory(found: Inventory, *, strict: bool) -> None:
    """Print what is wrong, and one line of numbers."""
    rows = [*_finding_rows(found), *(_waiting_rows(found) if strict else ())]
    if rows:
        show_table(("FINDING", "PATH", "SIZE", "TASK", "DETAIL"), rows)
        show_text("")
    if found.empty_folders:
        say(f"note: {found.empty_folders} empty folders")
    show_text(summary_of(found))


def summary_of(found: Inventory) -> str:
    """Return the last line of the answer."""
    recorded = found.piles[Place.RECORDED]
    proof = "as recorded" if found.digests else "as large as recorded, contents not compared"
    text = (
        f"{recorded.files:,} files, {size(recorded.size_bytes)}: {proof}; "
        f"{found.piles[Place.WRITING].files:,} being written, "
        f"{found.piles[Place.PENDING].files:,} pending, {found.piles[Place.KEPT].files:,} kept"
    )
    if found.findings:
        counted = ((found.count(kind), kind.value) for kind in FileFindingKind)
        named = ", ".join(f"{count:,} {name}" for count, name in counted if count)
        count = len(found.findings)
        text += f"; {count:,} finding{'s' if count > 1 else ''}: {named}"
    return text


def _finding_rows(found: Inventory) -> Iterator[tuple[object, ...]]:
    for each in found.findings:
        yield each.kind.value, shown(each.path), size(each.size_bytes), each.task_id, each.detail


def _waiting_rows(found: Inventory) -> Iterator[tuple[object, ...]]:
    for folder, place in sorted(found.waiting.items()):
        yield place.value, f"{folder}/", None, folder.rpartition("/")[2], _WAITING[place]
