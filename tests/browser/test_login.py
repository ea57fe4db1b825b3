"""The login: a token becomes a session, the page goes on where it was, and a logout ends it.

Slow: an overlord that asks who calls starts.
"""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from supervisor.cli.main import run
from supervisor.dev.ports import LOOPBACK
from tests.browser.accessible import assert_accessible
from tests.browser.watch import Watch
from tests.integration.overlords import Overlord, Overlords
from tests.waiting import wait_until

pytestmark = pytest.mark.process

REQUIRED = {
    "TIDEGATE_AUTH": "required",
    "TIDEGATE_KAFKA_ALLOW": LOOPBACK,
    "TIDEGATE_PASSWORD_MEMORY": "8",
    "TIDEGATE_PASSWORD_PASSES": "1",
}
NAME, PASSWORD = "olga", "correct horse battery"


@dataclass(frozen=True)
class Asking:
    """An overlord that asks who calls, and tokens for it."""

    overlord: Overlord
    admin: str
    viewer: str


@pytest.fixture(scope="module")
def asking(_built: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asking]:
    """One with an administrator, a viewer of the tables of orders, and a user with a password."""
    folder = tmp_path_factory.mktemp("asking")
    url = f"sqlite:///{folder / 'metadata.db'}"
    admin = create_token(folder, url, "admin", "admin", "*")
    viewer = create_token(folder, url, "viewer", "viewer", "orders*")
    access(folder, url, f"{PASSWORD}\n", "user", "add", NAME, "--role", "operator", "--on", "*")
    with Overlords(folder, url, more=dict(REQUIRED)) as overlords:
        leader = overlords.start_leader(admin, TIDEGATE_TOKEN="")
        yield Asking(leader, admin, viewer)


@pytest.fixture(scope="module")
def overlord(asking: Asking) -> Overlord:
    """The overlord of these tests."""
    return asking.overlord


def create_token(folder: Path, url: str, name: str, role: str, tables: str) -> str:
    """Return the secret of a new token with one grant."""
    file = folder / f"{name}.token"
    access(
        folder,
        url,
        "",
        "token",
        "create",
        name,
        "--role",
        role,
        "--on",
        tables,
        "--file",
        str(file),
    )
    return file.read_text().strip()


def create_worker_token(folder: Path, url: str) -> str:
    """Return the secret of a new token for workers."""
    file = folder / "workers.token"
    access(folder, url, "", "worker-token", "create", "workers", "--file", str(file))
    return file.read_text().strip()


def access(folder: Path, url: str, typed: str, *arguments: str) -> None:
    """Run a command in this process: one of its own costs a second or more each time."""
    ours = {**REQUIRED, "TIDEGATE_METADATA_URL": url, "TIDEGATE_DATA_DIR": str(folder / "cli")}
    printed = io.StringIO()
    with pytest.MonkeyPatch.context() as patched:
        for name in [name for name in os.environ if name.startswith("TIDEGATE_")]:
            patched.delenv(name)
        for name, value in ours.items():
            patched.setenv(name, value)
        patched.setattr(sys, "stdin", io.StringIO(typed))
        with redirect_stdout(printed), redirect_stderr(printed):
            code = run(("access", *arguments))
    assert code == 0, printed.getvalue()


def log_in(page: Page, token: str) -> None:
    """Fill the form of the login, and send it."""
    page.get_by_label("Token", exact=True).last.fill(token)
    page.get_by_role("button", name="Log in").click()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_form_can_be_read_by_anyone(page: Page, watch: Watch, scheme: str) -> None:
    watch.expect_status(401, "/api/v1/me")
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.goto("/ui/")

    expect(page).to_have_url("/ui/login")
    expect(page.get_by_role("heading", level=1)).to_have_text("Log in to Tidegate")
    assert_accessible(page)


def test_a_token_logs_in_and_the_page_goes_on_where_it_was(
    page: Page, watch: Watch, asking: Asking
) -> None:
    watch.expect_status(401, "/api/v1/me")
    page.goto("/ui/supervisors?q=orders")
    expect(page).to_have_url("/ui/login?next=%2Fsupervisors%3Fq%3Dorders")

    log_in(page, asking.admin)

    expect(page).to_have_url("/ui/supervisors?q=orders")
    expect(page.get_by_role("button", name="admin")).to_be_visible()
    kept = page.evaluate("JSON.stringify({...localStorage, ...sessionStorage}) + document.cookie")
    assert asking.admin not in kept
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text("Supervisors")


def test_a_wrong_token_is_refused_in_words(page: Page, watch: Watch) -> None:
    watch.expect_status(401, "/api/v1/")
    page.goto("/ui/login")

    log_in(page, "tdg_" + "x" * 40)

    expect(page.get_by_role("alert")).to_be_visible()
    expect(page).to_have_url("/ui/login")
    assert_accessible(page)


def test_a_name_and_a_password_log_in(page: Page, watch: Watch) -> None:
    watch.expect_status(401, "/api/v1/me")
    page.goto("/ui/")
    page.get_by_text("Name and password").click()
    page.get_by_label("Name", exact=True).fill(NAME)
    page.get_by_label("Password", exact=True).last.fill(PASSWORD)
    page.keyboard.press("Enter")

    expect(page).to_have_url("/ui/")
    expect(page.get_by_role("button", name=NAME)).to_be_visible()


def test_a_logout_ends_the_session_and_leaves_nothing_to_see(
    page: Page, watch: Watch, asking: Asking
) -> None:
    watch.expect_status(401, "/api/v1/")
    page.goto("/ui/")
    log_in(page, asking.admin)
    page.get_by_role("button", name="admin").click()
    page.get_by_role("menuitem", name="Log out").click()

    expect(page).to_have_url("/ui/login")
    page.goto("/ui/settings")
    expect(page).to_have_url("/ui/login?next=%2Fsettings")


def test_a_viewer_is_shown_what_it_may_do(page: Page, watch: Watch, asking: Asking) -> None:
    watch.expect_status(401, "/api/v1/me")
    page.goto("/ui/settings")
    log_in(page, asking.viewer)

    you = page.get_by_role("region", name="You")
    expect(you).to_contain_text("viewer")
    expect(you.get_by_role("row", name="read orders*")).to_be_visible()
    assert_accessible(page)


def test_a_link_to_elsewhere_does_not_lead_there(
    page: Page, watch: Watch, asking: Asking, overlord: Overlord
) -> None:
    watch.expect_status(401, "/api/v1/me")
    page.goto("/ui/login?next=//elsewhere.example/")
    log_in(page, asking.admin)

    expect(page.get_by_role("button", name="admin")).to_be_visible()
    wait_until(lambda: page.url == f"{overlord.url}/ui/")
