"""A browser and an overlord for these tests, until the last; each test has a context of its own."""

import os
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from scripts.console import built_from, source_digest
from tests.browser.watch import Watch
from tests.environment.chromium import ARGUMENTS, ensure_chromium
from tests.integration.overlords import Overlord, Overlords

_FAILED = pytest.StashKey[bool]()
_ROOT = 0


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Keep whether the body of a test failed, for the picture of its page."""
    report = yield
    if report.when == "call":
        item.stash[_FAILED] = report.failed
    return report


@pytest.fixture(scope="package")
def _built() -> None:
    """The console is built from these very sources."""
    assert built_from() == source_digest(), "the console is not built: python -m scripts.console"


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """One browser; it has a sandbox unless its user is root, who cannot have one."""
    ours = ensure_chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=ours.program,
            args=ARGUMENTS,
            env={**os.environ, **ours.environment},
            chromium_sandbox=os.geteuid() != _ROOT,
        )
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def overlord(_built: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Overlord]:
    """An overlord that leads, on loopback: nobody is asked who calls.  It has no worker."""
    folder = tmp_path_factory.mktemp("console")
    with Overlords(folder, f"sqlite:///{folder / 'metadata.db'}") as overlords:
        yield overlords.start_leader()


@pytest.fixture
def context(chromium: Browser, overlord: Overlord) -> Iterator[BrowserContext]:
    """A browser without memory, whose addresses begin with those of the overlord."""
    context = chromium.new_context(
        base_url=overlord.url,
        locale="en-GB",  # the machine's may be none that JavaScript knows
        timezone_id="UTC",
        reduced_motion="reduce",
        viewport={"width": 1280, "height": 800},
    )
    yield context
    context.close()


@pytest.fixture(autouse=True)
def watch(
    request: pytest.FixtureRequest, context: BrowserContext, overlord: Overlord, tmp_path: Path
) -> Iterator[Watch]:
    """Fail the test for all that its pages report; a failed one leaves pictures of them."""
    watching = Watch(context, overlord.url)
    yield watching
    if watching.problems or request.node.stash.get(_FAILED, False):
        for n, page in enumerate(context.pages):
            page.screenshot(path=tmp_path / f"page-{n}.png", full_page=True)
        request.node.add_report_section("teardown", "pictures of the pages", str(tmp_path))
    watching.check()


@pytest.fixture
def page(context: BrowserContext, watch: Watch) -> Page:
    """An empty page that is watched."""
    assert watch.context is context
    return context.new_page()
