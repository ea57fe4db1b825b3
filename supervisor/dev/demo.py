"""The demo: shows rows arriving in the table, and the proof that none is lost or duplicated.

The demo runs the ordinary commands: `tidegate query` for the growing row count, then
`tidegate verify`, which reads the topic again with a reader of its own.  Then it waits for the
first execution of its flow in this run that has joined files.  Its last lines say where that
execution is, and the stored logs and reports of its tasks.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from threading import Event
from urllib.parse import quote

import httpx

from supervisor.dev.ports import LOOPBACK
from supervisor.dev.processes import ProcessGroup
from supervisor.dev.sample_flow import ASK_TIMEOUT_S, FLOW, Ended, first_telling
from supervisor.settings.settings import OVERLORD_PORT

LOOK_S = 0.2
SHOW_EVERY_S = 5.0
FIRST_ROWS_WITHIN_S = 300.0
COUNTS_BEFORE_VERIFY = 3
COMMAND_TIMEOUT_S = 300.0
VERIFY_EVERY_S = 60.0
FLOW_ENDS_WITHIN_S = 180.0
DEFAULT_URL = f"http://{LOOPBACK}:{OVERLORD_PORT}"
"""Where commands look for an overlord by themselves."""


def stored_words(url: str, task: str, *, once: bool) -> str:
    """Return where the stored log and reports of a task are to be seen.

    `url`: of the overlord; `once`: it ends now, and is started again first.
    """
    server, when = _where(url), _when(once=once)
    return (
        f"Logs and reports of its tasks are stored, and outlive their worker. See them{when}:\n"
        f"  tidegate task logs {task}{server}\n"
        f"  tidegate task reports {task}{server}\n"
        f"  {url}/ui/logs/reports"
    )


def execution_words(url: str, execution: str, *, once: bool) -> str:
    """Return where an execution of the demo's flow is to be seen; as `stored_words`."""
    return (
        f"A publish started the flow {FLOW}, which compacted and verified. "
        f"See it{_when(once=once)}:\n"
        f"  tidegate execution get {execution}{_where(url)}\n"
        f"  {url}/ui/executions/{quote(execution, safe=':')}"
    )


def _where(url: str) -> str:
    return "" if url == DEFAULT_URL else f" --server {url}"


def _when(*, once: bool) -> str:
    return ", once the demo is started again" if once else ""


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
        self._since = datetime.now(UTC)

    def show(self, *, once: bool) -> int:
        """Show the demo until `until` is set or, with `once`, until the first proofs.

        Returns the exit code.
        """
        self._say(f"waiting for the first published rows of {self._table} ...")
        if not self._await_growth():
            return 0 if self._until.is_set() else 1
        flow_shown = False
        while not self._until.is_set():
            code = self._verify()
            if code == 0 and not flow_shown:
                code, flow_shown = self._show_flow(once=once), True
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

    def _show_flow(self, *, once: bool) -> int:
        """Wait for the first SUCCESS of the flow that joined files, and show it.

        Returns 0 after it, and 1 after an execution that failed.  Without `once` a flow that does
        not end, such as one that its user paused, ends nothing else.
        """
        deadline = time.monotonic() + FLOW_ENDS_WITHIN_S
        with httpx.Client(base_url=self._url, timeout=ASK_TIMEOUT_S) as api:
            while not self._until.is_set():
                ended = first_telling(api, self._since)
                if ended is not None:
                    return self._show_execution(ended, once=once)
                if time.monotonic() > deadline:
                    self._say(
                        f"no execution of {FLOW} has joined files within {FLOW_ENDS_WITHIN_S:g} s: "
                        f"`tidegate execution list` and `tidegate flow triggers {FLOW}` say why"
                    )
                    return 1 if once else 0
                self._wait(1.0)
        return 0

    def _show_execution(self, ended: Ended, *, once: bool) -> int:
        self._print(f"$ tidegate execution get {ended.id}")
        shown = self._tidegate("execution", "get", ended.id)
        self._print(shown.stdout.rstrip() or shown.stderr.rstrip())
        if not ended.well:
            return 1
        self._print(execution_words(self._url, ended.id, once=once))
        return 0

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
