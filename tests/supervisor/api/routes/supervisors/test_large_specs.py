"""A large spec that is suspended and resumed over and over, by whoever may do no more than that."""

import pytest

from tests.supervisor.api.world import SUPERVISORS, TOPIC, World, spec_document

CLICKS = f"{SUPERVISORS}/{TOPIC}"
GROWTH_MAX = 200_000
"""Bytes of the rows of a hundred verbs; the copies of the document would have a hundred megabytes.
"""


def _documents(world: World) -> int:
    """The bytes that the database has in use."""
    with world.store.reading() as tx:
        one = tx.specs._db.exec_driver_sql  # type: ignore[attr-defined]  # of the file itself
        pages, free, size = (
            int(one(f"PRAGMA {name}").scalar_one())
            for name in ("page_count", "freelist_count", "page_size")
        )
    return (pages - free) * size


@pytest.mark.parametrize(("bulk", "flips"), [(False, 50), (True, 5)], ids=["one", "all"])
def test_suspends_and_resumes_do_not_fill_the_database(
    world: World, *, bulk: bool, flips: int
) -> None:
    """Goal: a grant to suspend is none to store megabytes; each version is still shown whole."""
    document = spec_document() | {"context": {"note": "x" * 1_000_000}}
    assert world.post(SUPERVISORS, document).status_code == 200
    before = _documents(world)
    verbs = [f"{SUPERVISORS}/{verb}All" if bulk else f"{CLICKS}/{verb}" for verb in _VERBS]

    for verb in verbs * flips:
        assert world.post(verb).status_code == 200

    assert _documents(world) - before < GROWTH_MAX
    assert before > len("x" * 1_000_000)
    rows = world.get_rows(f"{CLICKS}/history?count=3")
    assert [row["versionNumber"] for row in rows] == [2 * flips + 1, 2 * flips, 2 * flips - 1]
    specs = [row["spec"] for row in rows]
    assert [_of(spec, "suspended") for spec in specs] == [False, True, False]
    assert [_of(spec, "context") for spec in specs] == [document["context"]] * 3
    assert world.get_object(CLICKS)["context"] == document["context"]


_VERBS = ("suspend", "resume")


def _of(spec: object, name: str) -> object:
    assert isinstance(spec, dict)
    return spec[name]
