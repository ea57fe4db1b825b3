"""What is refused before a route sees it.  Source: faults.md S18 and S20."""

from collections.abc import Iterator

import pytest

from supervisor.core.values.json_bodies import SIZE_BYTES_MAX
from tests.supervisor.api.world import SUPERVISORS, World, post_json, spec_document

BIG = b'{"type": "' + b"x" * SIZE_BYTES_MAX + b'"}'


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "localhost:8090",
        "localhost:",
        "localhost.:8090",
        "LOCALHOST:1",
        "127.0.0.1:8090",
        "[::1]:8090",
        "tidegate.example",
        "Tidegate.Example:443",
    ],
)
def test_loopback_and_the_configured_names_are_served(world: World, host: str) -> None:
    assert world.client.get(SUPERVISORS, headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8090", "localhost.evil.example", "10.0.0.1", "", "[::2]", "["],
)
@pytest.mark.parametrize("path", [SUPERVISORS, "/status/health", "/no-such-route"])
def test_any_other_name_is_refused_also_for_reading(world: World, host: str, path: str) -> None:
    """Goal: DNS rebinding: a page's own name that resolves to this machine."""
    answer = world.client.get(path, headers={"Host": host})

    assert (answer.status_code, answer.json()["type"]) == (403, "/problems/host-not-allowed")


@pytest.mark.parametrize(
    "host",
    [
        "localhost/status/health?",
        "localhost:8090/status/health?",
        "localhost:8090/status/health#",
        "127.0.0.1:8090\\@evil.example",
        "[::1]/status/health?",
        "user@localhost:8090",
        "localhost:evil",
    ],
)
def test_a_name_with_a_path_behind_it_is_no_name(world: World, host: str) -> None:
    """Source: an older starlette made the path of a request from its header Host as well."""
    answer = world.client.get("/openapi.json", headers={"Host": host})

    assert (answer.status_code, answer.json()["type"]) == (403, "/problems/host-not-allowed")


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "null", "http://localhost:3000", "http://localhost", "http://["],
)
def test_a_post_from_another_site_is_refused(world: World, origin: str) -> None:
    headers = {"Origin": origin}

    applied = world.client.post(SUPERVISORS, json=spec_document(), headers=headers)
    suspended = world.client.post(f"{SUPERVISORS}/x/suspend", headers=headers)

    for answer in (applied, suspended):
        assert (answer.status_code, answer.json()["type"]) == (403, "/problems/cross-origin")
    assert world.get(SUPERVISORS) == []


def test_a_post_from_our_own_page_is_served(world: World) -> None:
    headers = {"Origin": "http://localhost:8090"}

    answer = world.client.post(SUPERVISORS, json=spec_document(), headers=headers)

    assert answer.status_code == 200


def test_no_other_site_is_allowed_to_read(world: World) -> None:
    headers = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}

    answers = [
        world.client.get(SUPERVISORS, headers=headers),
        world.client.options(SUPERVISORS, headers=headers),
    ]

    for answer in answers:
        assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize("path", ["", "/no-such", "/no-such/no-such-route"])
def test_every_answer_carries_the_security_headers(world: World, path: str) -> None:
    headers = world.client.get(SUPERVISORS + path).headers

    assert headers["content-security-policy"] == "default-src 'self'; frame-ancestors 'none'"
    assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "content_type",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/json; charset=latin-1",
        "application/jsonp",
        "",
    ],
)
@pytest.mark.parametrize("path", [SUPERVISORS, "/internal/v1/workers/w1/sync"])
def test_a_body_of_another_type_than_json_is_a_415(
    world: World, path: str, content_type: str
) -> None:
    answer = world.client.post(path, content=b"{}", headers={"Content-Type": content_type})

    assert answer.status_code == 415
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["type"] == "/problems/unsupported-media-type"


def test_json_with_its_only_charset_is_taken(world: World) -> None:
    headers = {"Content-Type": 'Application/JSON; charset="UTF-8"'}

    answer = world.client.post(SUPERVISORS, content=b"{}", headers=headers)

    assert (answer.status_code, answer.json()["type"]) == (400, "/problems/invalid-spec")


def test_a_compressed_body_is_refused(world: World) -> None:
    """Goal: a small body that unpacks to a large one."""
    answer = post_json(world.client, SUPERVISORS, b"\x1f\x8b", {"Content-Encoding": "gzip"})

    assert answer.status_code == 415


def test_a_body_over_the_limit_is_a_413(world: World) -> None:
    answer = post_json(world.client, SUPERVISORS, BIG)

    assert answer.status_code == 413
    assert answer.json()["type"] == "/problems/body-too-large"


def test_a_body_without_a_length_is_bounded_as_well(world: World) -> None:
    given = 0

    def endless() -> Iterator[bytes]:
        nonlocal given
        while given < 64:
            given += 1
            yield b" " * 256 * 1024

    headers = {"Content-Type": "application/json"}

    answer = world.client.post(SUPERVISORS, content=endless(), headers=headers)

    assert answer.status_code == 413


def test_a_body_in_parts_is_read_whole(world: World) -> None:
    def parts() -> Iterator[bytes]:
        yield b'{"type": '
        yield b'"hdfs"}'

    headers = {"Content-Type": "application/json"}

    answer = world.client.post(SUPERVISORS, content=parts(), headers=headers)

    assert (answer.status_code, answer.json()["type"]) == (400, "/problems/invalid-spec")
    assert "hdfs" in answer.json()["error"]


def test_a_worker_may_say_more_than_a_user(world: World) -> None:
    """Goal: a publish of many files is not refused for its length alone."""
    answer = post_json(world.client, "/internal/v1/workers/w1/sync", BIG)

    assert (answer.status_code, answer.json()["type"]) == (400, "/problems/invalid-request")


@pytest.mark.parametrize("length", ["-1", "x", "+5", "9" * 5_000])
def test_a_length_that_is_none_is_refused(world: World, length: str) -> None:
    answer = post_json(world.client, SUPERVISORS, b"{}", {"Content-Length": length})

    assert answer.status_code in {400, 413}
