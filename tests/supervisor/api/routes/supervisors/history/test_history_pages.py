"""The history of specs in pages: the newest versions first, bounded in number and in bytes.

Source: a history answer of 106 MiB, for which the overlord took 818 MiB.
"""

import httpx
import pytest

from supervisor.services.supervisors.version_pages import (
    COUNT,
    COUNT_OF_EACH,
    PageBounds,
    all_versions_page,
    version_page,
)
from tests.conformance.metadata.databases import execute
from tests.supervisor.api.world import SUPERVISORS, World, spec_document

CLICKS = f"{SUPERVISORS}/clicks"


def anything(_: str | None) -> bool:
    return True


def numbers(answer: httpx.Response) -> list[int]:
    assert answer.status_code == httpx.codes.OK, answer.text
    return [row["versionNumber"] for row in answer.json()]


def following(answer: httpx.Response) -> str | None:
    """Return the address of the next page."""
    found = answer.links.get("next")
    return None if found is None else found["url"]


@pytest.fixture
def changed(world: World) -> World:
    """A supervisor with seven versions."""
    for replicas in (1, 2, 3, 4, 5, 6, 7):
        assert world.post(SUPERVISORS, spec_document(replicas=replicas)).status_code == 200
    return world


def test_pages_follow_each_other_until_every_version_was_seen(changed: World) -> None:
    pages: list[list[int]] = []
    address: str | None = f"{CLICKS}/history?count=3"
    while address is not None:
        answer = changed.client.get(address)
        pages.append(numbers(answer))
        address = following(answer)

    assert pages == [[7, 6, 5], [4, 3, 2], [1]]


def test_what_is_stored_meanwhile_moves_no_page(changed: World) -> None:
    first = changed.client.get(f"{CLICKS}/history?count=3")
    changed.post(SUPERVISORS, spec_document(replicas=8))

    address = following(first)
    assert address is not None
    assert numbers(changed.client.get(address)) == [4, 3, 2]


def test_without_a_count_a_page_has_a_bound(world: World) -> None:
    world.post(SUPERVISORS, spec_document())
    for _ in range(COUNT // 2):
        world.post(f"{CLICKS}/suspend")
        world.post(f"{CLICKS}/resume")

    answer = world.client.get(f"{CLICKS}/history")

    assert numbers(answer) == list(range(COUNT + 1, 1, -1))
    assert following(answer) == f"{CLICKS}/history?count={COUNT}&before=2"


def test_a_page_is_bounded_in_bytes_and_has_one_version_at_least(changed: World) -> None:
    [one] = version_page(changed.store, "clicks", anything, bounds=PageBounds(count=1)).rows
    size_bytes = version_page(changed.store, "clicks", anything, bounds=PageBounds(1)).size_bytes
    assert size_bytes > 100

    for bytes_max, count in ((1, 1), (size_bytes, 1), (3 * size_bytes + 50, 3)):
        page = version_page(changed.store, "clicks", anything, bounds=PageBounds(COUNT, bytes_max))
        assert len(page.rows) == count
        assert page.rows[0] == one
        assert page.before == page.rows[-1].version_number


def test_a_tombstone_on_an_earlier_page_names_the_table_that_it_ended(changed: World) -> None:
    changed.post(f"{CLICKS}/terminate")

    answer = changed.client.get(f"{CLICKS}/history?count=1")

    assert numbers(answer) == [8]
    assert answer.json()[0]["spec"]["dataSources"] == ["clicks"]


def test_the_history_of_all_has_pages_of_ids(changed: World) -> None:
    """Goal: many supervisors, or one with many versions, make no answer without a bound."""
    other = spec_document()
    other["id"] = "other"
    assert changed.post(SUPERVISORS, other).status_code == 200
    for _ in range(COUNT_OF_EACH):
        changed.post(f"{CLICKS}/suspend")
        changed.post(f"{CLICKS}/resume")

    of_all = changed.client.get(f"{SUPERVISORS}/history").json()
    behind = changed.client.get(f"{SUPERVISORS}/history?after=clicks&count=1").json()
    two = all_versions_page(changed.store, anything, count=2)

    assert [len(rows) for rows in of_all.values()] == [COUNT_OF_EACH, 1]
    assert list(behind) == ["other"]
    assert (list(two.pages), two.after) == (["clicks", "other"], None)
    assert [row.version_number for row in two.pages["clicks"]] == [27, 26]


def test_a_version_of_a_newer_release_ends_a_page_and_no_newer_page(changed: World) -> None:
    """Goal: what can be read is shown; what cannot is named by the page that begins with it."""
    execute(
        f"sqlite:///{changed.database}",
        "UPDATE supervisor_specs SET spec = json_set(spec, '$.ofTheFuture', 1) WHERE version = 5",
    )

    first = changed.client.get(f"{CLICKS}/history")

    assert numbers(first) == [7, 6]
    address = following(first)
    assert address is not None
    assert changed.client.get(address).json()["type"] == "/problems/spec-unreadable"
