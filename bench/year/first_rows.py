"""How long a browser takes from an address to the first rows of the list of supervisors."""

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from playwright.sync_api import Browser, sync_playwright

from bench.result import Spread, spread
from bench.year.console import open_fleet
from bench.year.plane import Plane
from bench.year.shape import FleetShape
from tests.environment.chromium import ARGUMENTS, ensure_chromium

_WARM_UP = 2
_WAIT_MS = 60_000
_ROOT = 0
_NOTE_FIRST_ROW = """
new MutationObserver((_, watch) => {
  if (window.firstRow === undefined && document.querySelector('tbody tr a') !== null) {
    watch.disconnect();
    requestAnimationFrame(() => { window.firstRow = performance.now(); });
  }
}).observe(document, { childList: true, subtree: true });
"""
"""Notes the frame in which a row is drawn, in ms since the page was asked for."""


@dataclass(frozen=True)
class FirstRowsRun:
    """What a person waits for with one fleet."""

    shape: FleetShape
    first_row_ms: Spread


def measure_first_rows(folder: Path, supervisors: int, loads: int) -> FirstRowsRun:
    """Open the list `loads` times in a new context each, as a first visit, beside the loop."""
    with (
        open_fleet(folder, supervisors) as (shape, plane),
        _served(plane) as url,
        _chromium() as browser,
    ):
        took = [_first_row(browser, f"{url}/ui/supervisors") for _ in range(_WARM_UP + loads)]
    return FirstRowsRun(shape, spread(took[_WARM_UP:]))


def _first_row(browser: Browser, url: str) -> float:
    context = browser.new_context(locale="en-GB", timezone_id="UTC")
    page = context.new_page()
    page.add_init_script(_NOTE_FIRST_ROW)
    page.goto(url)
    page.wait_for_function("() => window.firstRow !== undefined", timeout=_WAIT_MS)
    took = float(page.evaluate("() => window.firstRow"))
    context.close()
    return took


@contextmanager
def _served(plane: Plane) -> Iterator[str]:
    """Serve the fleet's application on a free port of loopback."""
    server = uvicorn.Server(uvicorn.Config(plane.app, log_level="critical", lifespan="off"))
    with socket.create_server(("127.0.0.1", 0)) as bound:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{bound.getsockname()[1]}"
        finally:
            server.should_exit = server.force_exit = True
            thread.join()


@contextmanager
def _chromium() -> Iterator[Browser]:
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
