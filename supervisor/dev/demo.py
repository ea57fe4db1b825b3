"""The demo: shows rows arriving in the table, and the proof that none is lost or duplicated.

The demo runs the ordinary commands: `tidegate query` for the growing row count, then
`tidegate verify`, which reads the topic again with a reader of its own.  Its last lines say where
the stored logs and reports of its tasks are.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from threading import Event

from supervisor.dev.ports import LOOPBACK
from supervisor.dev.processes import ProcessGroup
from supervisor.settings.settings import OVERLORD_PORT

LOOK_S = 0.2
SHOW_EVERY_S = 5.0
FIRST_ROWS_WITHIN_S = 300.0
COUNTS_BEFORE_VERIFY = 3
COMMAND_TIMEOUT_S = 300.0
VERIFY_EVERY_S = 60.0
DEFAULT_URL = f"http://{LOOPBACK}:{OVERLORD_PORT}"
"""Where commands look for an overlord by themselves."""


def stored_words(url: str, task: str, *, once: bool) -> str:
    """Return where the stored log and reports of a task are to be seen.

    `url`: of the overlord; `once`: it ends now, and is started again first.
    """
    server = "" if url == DEFAULT_URL else f" --server {url}"
    when = ", once the demo is started again" if once else ""
    return (
        f"Logs and reports of its tasks are stored, and outlive their worker. See them{when}:\n"
        f"  tidegate task logs {task}{server}\n"
        f"  tidegate task reports {task}{server}\n"
        f"  {url}/ui/logs/reports"
    )


class Demo:
    """Runs commands against a running Tidegate and prints their output."""

    def __init__(
        self,
        url: str,
        table: str,
        group: ProcessGroup,
        until: Event,
        notify: Callable[[str], None],
        *,
        stores_reports: bool,
    ) -> None:
        """Show `table` of the overlord at `url`, and keep the children of `group` running.

        `stores_reports`: a persister is among the children.
        """
        self._url = url
        self._table = table
        self._count = f"select count(*) as n from {table}"  # noqa: S608 -- our own name
        self._group = group
        self._until = until
        self._say = notify
        self._stores_reports = stores_reports

    def show(self, *, once: bool) -> int:
        """Show the demo until `until` is set or, with `once`, until the first verify.

        Returns the exit code.
        """
        self._say(f"waiting for the first published rows of {self._table} ...")
        if not self._await_growth():
            return 0 if self._until.is_set() else 1
        while not self._until.is_set():
            code = self._verify()
            if code == 0 and self._stores_reports:
                self._show_stored(once=once)
            if once or code != 0:
                return code
            self._count_for(VERIFY_EVERY_S)
        return 0

    def _await_growth(self) -> bool:
        """Print the row count as it grows; True when the count has grown often enough."""
        deadline = time.monotonic() + FIRST_ROWS_WITHIN_S
        seen: list[int] = []
        while len(seen) < COUNTS_BEFORE_VERIFY and not self._until.is_set():
            if time.monotonic() > deadline:
                self._say(f"no rows within {FIRST_ROWS_WITHIN_S:g} s; see the logs")
                return False
            rows = self._rows()
            if rows is not None and (not seen or rows > seen[-1]):
                seen.append(rows)
                self._show_rows(rows)
            self._wait(2.0)
        return not self._until.is_set()

    def _count_for(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and not self._until.is_set():
            rows = self._rows()
            if rows is not None:
                self._show_rows(rows)
            self._wait(SHOW_EVERY_S * 2)

    def _verify(self) -> int:
        self._print(f"$ tidegate verify {self._table}")
        ended = self._tidegate("verify", self._table)
        self._print(ended.stdout.rstrip() or ended.stderr.rstrip())
        return ended.returncode

    def _show_stored(self, *, once: bool) -> None:
        ended = self._tidegate("task", "find", "--status", "SUCCESS", "-n", "1", "-o", "name")
        task = ended.stdout.strip()
        if ended.returncode == 0 and task:
            self._print(stored_words(self._url, task, once=once))

    def _rows(self) -> int | None:
        """Return the number of published rows; None before the first publish."""
        ended = self._tidegate("query", "-o", "json", self._count)
        if ended.returncode != 0:
            return None
        found = json.loads(ended.stdout)
        return int(found[0]["n"]) if found else None

    def _tidegate(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        self._group.look()
        return subprocess.run(
            (sys.executable, "-m", "supervisor.cli.main", *arguments),
            env={**os.environ, "TIDEGATE_OVERLORDS": self._url},
            capture_output=True,
            text=True,
            timeout=COMMAND_TIMEOUT_S,
            check=False,
            start_new_session=True,  # Ctrl-C is for this process, which then stops in good order
        )

    def _show_rows(self, rows: int) -> None:
        self._print(f'$ tidegate query "{self._count}"\n{rows}')

    def _wait(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and not self._until.wait(LOOK_S):
            self._group.look()

    def _print(self, text: str) -> None:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()
