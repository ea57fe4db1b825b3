"""The judgement on a warehouse: every file that lies there or should, and every way it is told."""

from collections.abc import Mapping

import pytest

from supervisor.verify.inventory import (
    FileFindingKind,
    Inventory,
    PathContent,
    Pile,
    Place,
    Walked,
    judge,
    only,
    shown,
    total_bytes,
)
from supervisor.views.lenient import lenient
from supervisor.views.tables.warehouse import WarehouseCopy, WarehouseFile, WarehouseFiles

A, B = "a" * 64, "b" * 64
FILE = "clicks/data/t1/b0-1/part-0.parquet"
REJECTS = "clicks/data/t1/rejects-1.parquet"
NOTHING = Pile()


def claim(
    *named: WarehouseFile, writing: str = "", pending: str = "", kept: str = "", newer: str = ""
) -> WarehouseFiles:
    """An answer with at most one folder of each kind, as it comes from the wire."""
    document: dict[str, object] = {
        "warehouse": "/warehouse",
        "files": [file.model_dump(mode="json") for file in named],
        "writing": [writing] if writing else [],
        "pending": [pending] if pending else [],
        "kept": [kept] if kept else [],
    }
    return lenient(WarehouseFiles).model_validate(document | ({newer: True} if newer else {}))


def named(path: str = FILE, size: int = 10, sha256: str = A) -> WarehouseFile:
    return lenient(WarehouseFile)(path=path, size_bytes=size, sha256=sha256, task_id="t1")


def judged(
    sizes: Mapping[str, int],
    claimed: WarehouseFiles,
    found: Mapping[str, PathContent] | None = None,
) -> Inventory:
    return judge(Walked(sizes), claimed, found or {}, digests=True)


def findings(inventory: Inventory) -> list[tuple[FileFindingKind, str]]:
    return [(found.kind, found.path) for found in inventory.findings]


def test_a_named_file_with_its_size_and_digest_is_recorded() -> None:
    claimed = claim(named(), named(REJECTS, 5, B))

    inventory = judged(
        {FILE: 10, REJECTS: 5}, claimed, {FILE: PathContent(10, A), REJECTS: PathContent(5, B)}
    )

    assert findings(inventory) == []
    assert inventory.piles == dict.fromkeys(Place, NOTHING) | {Place.RECORDED: Pile(2, 15)}


def test_a_file_that_was_published_after_the_walk_is_recorded_all_the_same() -> None:
    inventory = judged({}, claim(named()), {FILE: PathContent(10, A)})

    assert (findings(inventory), inventory.piles[Place.RECORDED]) == ([], Pile(1, 10))


def test_a_named_file_that_is_not_there_is_missing() -> None:
    inventory = judged({}, claim(named()))

    [found] = inventory.findings
    assert (found.kind, found.path, found.size_bytes) == (FileFindingKind.MISSING, FILE, 10)
    assert (found.task_id, inventory.piles[Place.RECORDED]) == ("t1", NOTHING)


@pytest.mark.parametrize(
    ("content", "detail"),
    [
        (PathContent(9, None), "9 bytes, published were 10"),
        (PathContent(11, A), "11 bytes, published were 10"),
        (PathContent(10, B), f"sha256 {B}, published was {A}"),
        (
            PathContent(10, A, trouble="it cannot be read: Input/output error"),
            "it cannot be read: ",
        ),
    ],
)
def test_a_named_file_with_another_content_is_damaged(content: PathContent, detail: str) -> None:
    inventory = judged({FILE: content.size_bytes}, claim(named()), {FILE: content})

    [found] = inventory.findings
    assert (found.kind, found.path) == (FileFindingKind.DAMAGED, FILE)
    assert found.detail.startswith(detail)
    assert inventory.piles[Place.RECORDED] == NOTHING


def test_without_a_digest_the_size_alone_is_compared() -> None:
    found = {FILE: PathContent(10)}

    inventory = judge(Walked({FILE: 10}), claim(named(sha256=B)), found, digests=False)

    assert (findings(inventory), inventory.digests) == ([], False)
    assert inventory.piles[Place.RECORDED] == Pile(1, 10)


@pytest.mark.parametrize("place", [Place.WRITING, Place.PENDING, Place.KEPT])
def test_a_file_in_the_folder_of_a_task_that_is_not_settled_is_counted(place: Place) -> None:
    folder = "clicks/data/t2"
    claimed = claim(named(), **{place.value: folder})
    unnamed = {f"{folder}/part-0.parquet": 3, f"{folder}/b1/_temporary/0/x": 4}

    inventory = judged({FILE: 10} | unnamed, claimed, {FILE: PathContent(10, A)})

    assert findings(inventory) == []
    assert inventory.piles[place] == Pile(2, 7)
    assert inventory.piles[Place.RECORDED] == Pile(1, 10)
    assert inventory.waiting == ({} if place is Place.WRITING else {folder: place})


def test_a_named_file_in_a_folder_that_is_pending_is_recorded_and_does_not_wait() -> None:
    """Goal: what a published task's merge has rewritten waits, what it published does not."""
    claimed = claim(named(), pending="clicks/data/t1")

    alone = judged({FILE: 10}, claimed, {FILE: PathContent(10, A)})
    rewritten = judged({FILE: 10, "clicks/data/t1/b0-1/x": 1}, claimed, {FILE: PathContent(10, A)})

    assert (alone.piles[Place.PENDING], alone.waiting) == (NOTHING, {})
    assert rewritten.piles[Place.PENDING] == Pile(1, 1)
    assert rewritten.piles[Place.RECORDED] == Pile(1, 10)


@pytest.mark.parametrize(
    "path",
    [
        "clicks/data/t10/part-0.parquet",  # begins like t1
        "clicks/data/t1",  # a file where the folder would be
        "clicks/data/part-0.parquet",
        "clicks/part-0.parquet",
        "part-0.parquet",
        "clicks/other/t1/part-0.parquet",
        "orders/data/t1/part-0.parquet",
        "backup/clicks/data/t1/part-0.parquet",
        "README.txt",
        ".README.txt.t1",
        "clicks/data/README.txt",
        "clicks/README.txt.bak",
        "clicks/.README.txt.t1/part-0.parquet",
    ],
)
def test_a_file_that_nothing_answers_for_is_an_orphan(path: str) -> None:
    inventory = judged({path: 7}, claim(writing="clicks/data/t1"))

    [found] = inventory.findings
    assert (found.kind, found.path, found.size_bytes) == (FileFindingKind.ORPHAN, path, 7)


@pytest.mark.parametrize("name", ["README.txt", ".README.txt.index_kafka_clicks_0_0"])
def test_the_readme_of_a_table_is_ours_also_half_written(name: str) -> None:
    inventory = judged({f"clicks/{name}": 400}, claim())

    assert (findings(inventory), inventory.piles[Place.README]) == ([], Pile(1, 400))


@pytest.mark.parametrize("path", ["clicks/data/t1/link", "clicks/README.txt", "clicks"])
def test_a_link_is_an_orphan_wherever_it_lies(path: str) -> None:
    """Goal: no part of Tidegate makes links, so none can stand for a file of ours."""
    walked = Walked({}, {path: "a link"})

    inventory = judge(walked, claim(writing="clicks/data/t1"), {}, digests=True)

    [found] = inventory.findings
    assert (found.kind, found.path) == (FileFindingKind.ORPHAN, path)
    assert "a link" in found.detail


COPY = f"clicks/widened/{'a' * 32}/{'b' * 32}.parquet"


def test_a_copy_that_an_export_names_has_to_be_there_as_it_should() -> None:
    claimed = claim().model_copy(update={"copies": (WarehouseCopy(path=COPY, rows=7),)})

    good = judged({COPY: 12}, claimed, {COPY: PathContent(12)})
    gone = judged({}, claimed)
    bad = judged({COPY: 12}, claimed, {COPY: PathContent(12, trouble="6 rows")})

    assert (findings(good), good.piles[Place.EXPORTS]) == ([], Pile(1, 12))
    assert findings(gone) == [(FileFindingKind.MISSING, COPY)]
    assert findings(bad) == [(FileFindingKind.DAMAGED, COPY)]
    assert [found.detail for found in bad.findings] == ["6 rows"]
    assert findings(judged({}, only(claimed, frozenset()))) == []


@pytest.mark.parametrize(
    ("path", "is_one"),
    [
        (COPY, True),
        (f"{COPY}.{'c' * 32}.half", True),
        (f"{COPY}.half", False),
        (f"clicks/widened/{'b' * 32}/{'b' * 32}.parquet", False),
        (f"clicks/widened/{'a' * 32}/part-0.parquet", False),
        (f"clicks/widened/{'a' * 32}/more/{'b' * 32}.parquet", False),
        (f"clicks/widened/{'a' * 32}", False),
    ],
)
def test_other_copies_may_lie_beside_those_of_a_file_that_is_there(path: str, is_one: bool) -> None:
    claimed = claim().model_copy(update={"copied": frozenset({f"clicks/widened/{'a' * 32}"})})

    found = findings(judged({path: 3}, claimed))

    assert found == ([] if is_one else [(FileFindingKind.ORPHAN, path)])


def test_a_link_at_a_named_path_is_one_finding_not_two() -> None:
    walked = Walked({}, {FILE: "a link"})
    found = {FILE: PathContent(0, trouble="it is a link and no file")}

    inventory = judge(walked, claim(named()), found, digests=True)

    assert findings(inventory) == [(FileFindingKind.DAMAGED, FILE)]


def test_findings_come_by_path_and_are_counted_by_kind() -> None:
    claimed = claim(named("b", 1), named("c", 1))

    inventory = judged({"a": 1, "c": 2, "d": 1}, claimed, {"c": PathContent(2)})

    assert [path for _, path in findings(inventory)] == ["a", "b", "c", "d"]
    assert [inventory.count(kind) for kind in FileFindingKind] == [1, 1, 2]


def test_a_second_look_replaces_the_findings_and_adds_what_it_could_place() -> None:
    """Goal: what came, or went, while we looked is told as it is, once, and nothing twice."""
    folder = "clicks/data/t2"
    claimed = claim(named(), named(REJECTS, 5))
    first = judged(
        {FILE: 10, f"{folder}/x": 2, "y": 1, "z": 1}, claimed, {FILE: PathContent(10, A)}
    )
    assert first.suspects() == {REJECTS, f"{folder}/x", "y", "z"}

    later = only(claim(named(), named(REJECTS, 5), pending=folder), first.suspects())
    second = judged({f"{folder}/x": 2, "z": 1}, later, {REJECTS: PathContent(5, A)})
    inventory = first.settled_by(second)

    assert findings(inventory) == [(FileFindingKind.ORPHAN, "z")]
    assert inventory.piles[Place.RECORDED] == Pile(2, 15)
    assert inventory.piles[Place.PENDING] == Pile(1, 2)
    assert inventory.waiting == {folder: Place.PENDING}


def test_a_claim_that_is_cut_to_some_paths_keeps_its_folders() -> None:
    claimed = claim(named(), named(REJECTS), writing="w", pending="p", kept="k")

    cut = only(claimed, frozenset({REJECTS, "elsewhere"}))

    assert [file.path for file in cut.files] == [REJECTS]
    assert [*cut.writing, *cut.pending, *cut.kept] == ["w", "p", "k"]
    assert total_bytes(claimed.files) == 20


def test_a_newer_overlord_may_say_more() -> None:
    assert claim(named(), newer="somethingNew").files == [named()]


def test_the_verdict_as_json_has_every_number_and_finding() -> None:
    walked = Walked({"x": 1, "clicks/data/k/y": 2}, empty_folders=3)

    document = judge(walked, claim(kept="clicks/data/k"), {}, digests=False).to_dict()

    assert document["kept"] == {"files": 1, "sizeBytes": 2}
    assert document["recorded"] == {"files": 0, "sizeBytes": 0}
    assert (document["emptyFolders"], document["digestsCompared"]) == (3, False)
    assert document["waiting"] == [{"kind": "kept", "folder": "clicks/data/k"}]
    assert document["findings"] == [
        {
            "kind": "orphan",
            "path": "x",
            "detail": "nothing names it",
            "sizeBytes": 1,
            "taskId": None,
        }
    ]


def test_a_name_that_is_not_utf_8_can_be_shown() -> None:
    assert shown(b"caf\xe9.parquet".decode("utf-8", "surrogateescape")) == "caf\\xe9.parquet"
