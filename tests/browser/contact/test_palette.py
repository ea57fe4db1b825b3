"""The palette's verbs are those of the command line and of the API, and lead to their dialogs."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import typer.main
from playwright.sync_api import Page, expect

from supervisor.cli.commands import app
from tests.browser.accessible import assert_accessible
from tests.browser.contact.conftest import Site

pytestmark = [pytest.mark.process, pytest.mark.kafka]

_ELSEWHERE = {"apply": "the tab Spec", "rollback": "the tab History", "forget": "the list"}
"""Commands that change a supervisor, and have their place on a page instead."""
_SOURCES = Path(__file__).parents[3] / "supervisor/console/src"
_COMMAND = re.compile(r"\b(tidegate(?: [a-z][a-z-]*)+)")


def _commands() -> dict[str, set[str]]:
    """Return the path of each command that does something -> its options."""
    paths: dict[str, set[str]] = {}

    def walk(command: object, path: str) -> None:
        for name, child in getattr(command, "commands", {}).items():
            walk(child, f"{path} {name}")
        if not hasattr(command, "commands"):
            options = [each.opts for each in getattr(command, "params", [])]
            paths[path] = {name for names in options for name in names}

    walk(typer.main.get_command(app), "tidegate")
    return paths


def _offered(page: Page, site: Site, *words: str) -> set[str]:
    """Open the palette, wait for verbs of these words, and return the commands of all."""
    page.keyboard.press("Control+k")
    for word in words:
        expect(
            page.get_by_text(f"tidegate supervisor {word} {site.id}", exact=True)
        ).to_be_visible()
    assert_accessible(page)
    command = re.compile(f"^tidegate supervisor [a-z]+ {site.id}$")
    return {text.split()[2] for text in page.get_by_text(command).all_inner_texts()}


def test_it_has_the_verbs_of_the_command_line(page: Page, reading: Site) -> None:
    site = reading
    page.goto(f"/ui/supervisors/{site.id}/overview")
    expect(page.get_by_role("button", name="Suspend…").last).to_be_visible()
    offered = _offered(page, site, "suspend", "handoff")
    page.keyboard.press("Escape")
    site.cluster.post(site.id, "suspend")
    expect(page.get_by_role("button", name="Resume…").last).to_be_visible()

    offered |= _offered(page, site, "resume")

    group = "tidegate supervisor "
    changing = {
        path.removeprefix(group)
        for path, options in _commands().items()
        if path.startswith(group) and "--reason" in options
    }
    assert offered <= changing, "a verb that the command line does not have"
    assert changing - offered == set(_ELSEWHERE), "a command that the console does not have"
    paths = site.cluster.http.get("/openapi.json").raise_for_status().json()["paths"]
    last = {path.rpartition("/")[2] for path, verbs in paths.items() if "post" in verbs}
    assert offered <= last, "a verb that the API does not have"


def test_a_verb_and_a_name_lead_to_the_dialog_by_the_keyboard_alone(
    page: Page, reading: Site
) -> None:
    site = reading
    page.goto("/ui/workers")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.keyboard.press("Control+k")
    expect(page.get_by_role("textbox", name="Search")).to_be_focused()
    page.keyboard.type(f"suspend {site.id}")
    expect(page.get_by_text(f"tidegate supervisor suspend {site.id}")).to_be_visible()

    page.keyboard.press("Enter")

    dialog = page.get_by_role("dialog", name=f"{site.id}: suspend")
    expect(dialog.get_by_role("button", name="Suspend", exact=True)).to_be_enabled()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)


def test_letters_typed_before_its_field_has_the_focus_arrive_in_it(
    page: Page, reading: Site
) -> None:
    """Timers rest: the dialog gives the focus to its field by one, so it never does here."""
    page.clock.install()
    page.goto("/ui/workers")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.clock.pause_at(datetime.now(UTC) + timedelta(seconds=1))

    page.keyboard.press("Control+k")
    page.keyboard.type(f"g suspend {reading.id}")

    expect(page.get_by_role("textbox", name="Search")).to_have_value(f"g suspend {reading.id}")
    assert page.url.endswith("/ui/workers"), "letters were keys of the page"


def test_each_command_that_a_dialog_shows_is_there() -> None:
    shown = {
        command
        for source in (_SOURCES / "changes").glob("*.ts")
        for command in _COMMAND.findall(source.read_text("utf-8"))
    }
    assert len(shown) > 15
    assert shown <= _commands().keys()
