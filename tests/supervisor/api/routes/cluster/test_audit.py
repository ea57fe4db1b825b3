"""Who changed what."""

from tests.supervisor.api.world import SUPERVISORS, TOPIC, Json, World

AUDIT = "/api/v1/audit"


def entries(world: World, query: str = "") -> list[Json]:
    found = world.get_object(AUDIT + query)["entries"]
    assert isinstance(found, list)
    return found


def test_changes_are_listed_newest_first(world: World) -> None:
    world.start()
    world.client.post(f"{SUPERVISORS}/{TOPIC}/suspend", headers={"X-Druid-Author": "ada"})

    first, *_, last = entries(world, f"?supervisor={TOPIC}")

    assert (first["actor"], first["action"], first["subject"]) == ("ada", "suspend", TOPIC)
    assert last["action"] == "apply"


def test_filters_narrow_the_list(world: World) -> None:
    world.start()
    world.client.post(f"{SUPERVISORS}/{TOPIC}/suspend", headers={"X-Druid-Author": "ada"})

    assert [e["action"] for e in entries(world, "?actor=ada")] == ["suspend"]
    assert {e["action"] for e in entries(world, "?action=apply")} == {"apply"}
    assert entries(world, "?supervisor=other") == []


def test_pages_follow_each_other_while_new_entries_come(world: World) -> None:
    """Goal: what was there when the first page was read is seen once, whatever comes meanwhile."""
    world.start()
    for verb in ("suspend", "resume") * 3:
        world.post(f"{SUPERVISORS}/{TOPIC}/{verb}")
    every = entries(world)
    seen, cursor = [], ""
    while True:
        page = world.get_object(f"{AUDIT}?limit=2{cursor}")
        rows = page["entries"]
        assert isinstance(rows, list)
        seen += rows
        world.post(f"{SUPERVISORS}/{TOPIC}/{'suspend' if len(seen) % 4 == 2 else 'resume'}")
        if page["next"] is None:
            break
        cursor = f"&cursor={page['next']}"
    assert seen == every


def test_a_cursor_that_is_none_is_refused(world: World) -> None:
    answer = world.client.get(f"{AUDIT}?cursor=17")

    assert (answer.status_code, answer.json()["type"]) == (400, "/problems/bad-cursor")
    assert "next" in answer.json()["detail"]


def test_a_follower_lists_them_too(follower: World) -> None:
    assert follower.get(AUDIT) == {"entries": [], "next": None, "missing": None}
