"""Where the console is among the checks of the API: open, but under the overlord's name alone."""

import typer

from supervisor.api.console.missing import COMMANDS
from supervisor.cli.commands import app
from tests.supervisor.api.description import description
from tests.supervisor.api.guarded import Guarded
from tests.supervisor.api.world import SUPERVISORS, World


def test_it_is_open_while_the_api_asks_who_calls(guarded: Guarded) -> None:
    """Goal: the login is part of the console."""
    page = guarded.ask("GET", "/ui/login")

    assert page.status_code in {200, 503}, "built or not"
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "WWW-Authenticate" not in page.headers
    assert guarded.ask("GET", SUPERVISORS).status_code == 401
    assert guarded.ask("GET", "/").status_code == 401


def test_a_wrong_token_does_not_keep_the_login_away(guarded: Guarded) -> None:
    assert guarded.ask("GET", "/ui/login", "stale").status_code in {200, 503}


def test_it_has_the_names_of_this_overlord_alone(world: World) -> None:
    """Source: faults.md S20."""
    for path in ("/ui/", "/ui/assets/x.js", "/"):
        answer = world.client.get(path, headers={"Host": "evil.example", "Accept": "text/html"})
        assert (answer.status_code, answer.json()["type"]) == (403, "/problems/host-not-allowed")


def test_its_answers_have_the_headers_of_all_others(world: World) -> None:
    for path in ("/ui/", "/ui/assets/x.js"):
        headers = world.client.get(path).headers
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
        assert headers["X-Request-Id"]


def test_a_follower_serves_it_too(follower: World) -> None:
    assert follower.client.get("/ui/").headers["Content-Type"].startswith("text/html")


def test_its_requests_are_counted_under_one_route(world: World) -> None:
    """Goal: paths that users make up are no series of metrics."""
    for path in ("/ui/", "/ui/supervisors/a", "/ui/supervisors/b"):
        world.client.get(path)

    lines = [line for line in world.client.get("/metrics").text.splitlines() if "/ui" in line]

    assert lines
    assert all('route="/ui/{path}"' in line for line in lines)


def test_it_is_no_part_of_the_described_api() -> None:
    assert not [path for path in description()["paths"] if path.startswith("/ui") or path == "/"]


def test_the_commands_that_the_page_names_exist() -> None:
    root = typer.main.get_command(app)
    for _, line in COMMANDS:
        command = root
        for word in line.split()[1:]:
            if word.isupper() or word.startswith("-"):
                break
            assert isinstance(command, typer.core.TyperGroup), line
            command = command.commands[word]
