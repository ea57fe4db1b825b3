"""The terminal session of the tutorial: real commands before a real overlord, no Kafka needed.

`python -m tests.supervisor.cli.shell.session` writes docs/tutorial/command-line.md anew; a test
compares.  What differs from run to run (times, tags, the port) is written as if it did not.
"""

import contextlib
import io
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from supervisor.cli.main import run
from supervisor.dev.ports import LOOPBACK, free_port
from tests.tidy.sources import ROOT
from tests.waiting import wait_until

PAGE = "docs/tutorial/command-line.md"
BEGIN, END = "<!-- begin session -->\n", "<!-- end session -->\n"
SPEC = """\
type: kafka
suspended: true # so that this session needs no Kafka
spec:
  dataSchema:
    dataSource: clicks
    timestampSpec: {column: time, format: iso}
    dimensionsSpec: {dimensions: [user, {type: long, name: bytes}]}
    granularitySpec: {segmentGranularity: HOUR, rollup: false}
  ioConfig:
    topic: clicks
    inputFormat: {type: json}
    consumerProperties: {bootstrap.servers: "localhost:9092"}
    taskDuration: PT10M
"""
STEPS: tuple[tuple[str, str], ...] = (
    ("A spec may be YAML. `apply` puts it in force, and `--wait` until it stands.", ""),
    ("", "cat clicks.yaml"),
    ("", "tidegate supervisor apply -f clicks.yaml --wait 30"),
    ("Applying it again changes nothing.", "tidegate supervisor apply -f clicks.yaml"),
    ("A field that is misspelt is named, with the nearest known one; the exit code is 1.", ""),
    ("", "sed 's/topic:/topc:/' clicks.yaml | tidegate supervisor apply -f -"),
    ("A change tells what it disturbs.", ""),
    ("", "sed 's/PT10M/PT1H/' clicks.yaml | tidegate supervisor apply -f -"),
    ("`--only-new` never changes what exists.", ""),
    ("", "tidegate supervisor apply -f clicks.yaml --only-new"),
    ("Every version is kept, and an earlier one can be put in force again.", ""),
    ("", "tidegate supervisor history clicks"),
    ("", "tidegate supervisor rollback clicks"),
    ("", "tidegate supervisor rollback clicks --yes"),
    ("Lists come as tables, wide tables, JSON, YAML, or ids for other commands.", ""),
    ("", "tidegate supervisor list -o wide"),
    ("", "tidegate supervisor list -o yaml"),
    ("", "tidegate supervisor list -o name"),
    ("Verbs take several ids, or all that fit; those that cannot be undone ask first.", ""),
    ("", "tidegate supervisor terminate --data-source 'cli*'"),
    ("", "tidegate supervisor terminate --data-source 'cli*' --yes --wait 30"),
    ("", "tidegate supervisor list"),
    ("And this is where the command looks for its overlord.", "tidegate config show"),
)
_VOLATILE = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"), "2026-11-21T12:00:00.000Z"),
    (re.compile(r"127\.0\.0\.1:\d+"), "127.0.0.1:8090"),
    (re.compile(r"(\d+-)[0-9a-f]{16}"), r"\g<1>0123456789abcdef"),
)


def session() -> str:
    """Return what stands between the marks of the page."""
    with tempfile.TemporaryDirectory() as folder, _overlord(Path(folder)) as url:
        work = Path(folder) / "work"
        work.mkdir()
        (work / "clicks.yaml").write_text(SPEC, encoding="utf-8")
        return "".join(_step(prose, line, work, url) for prose, line in STEPS)


def rewritten(page: str, played: str) -> str:
    """Return the page with another session between its marks."""
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    return f"{before}{BEGIN}{played}{END}{after}"


def _step(prose: str, line: str, work: Path, url: str) -> str:
    text = f"\n{prose}\n" if prose else ""
    if not line:
        return text
    printed, code = _run(line, work, url)
    ended = f"(exit code {code})\n" if code else ""
    return f"{text}\n```console\n$ {line}\n{printed}{ended}```\n"


def _run(line: str, work: Path, url: str) -> tuple[str, int]:
    """Run the last command of a pipe in this process, if it is ours, and what feeds it in a shell.

    A process for each of them would cost the tests half a minute of CPU.
    """
    feeding, pipe, command = line.rpartition(" | ")
    fed = _in_shell(feeding, work) if pipe else ""
    if not command.startswith("tidegate "):
        assert not pipe
        return _in_shell(line, work), 0
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    own = {"TIDEGATE_OVERLORDS": url, "XDG_CONFIG_HOME": str(work)}
    printed = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
    with contextlib.chdir(work), pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "environ", kept | own)
        patched.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(fed.encode()), "utf-8"))
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            code = run(shlex.split(command)[1:])
    shown = printed.buffer.getvalue().decode()
    for pattern, fixed in _VOLATILE:
        shown = pattern.sub(fixed, shown)
    return shown, code


def _in_shell(line: str, work: Path) -> str:
    shell = ["/bin/bash", "-o", "pipefail", "-c", line]
    return subprocess.check_output(shell, cwd=work, text=True, timeout=120)


@contextmanager
def _overlord(folder: Path) -> Iterator[str]:
    port = free_port()
    url = f"http://{LOOPBACK}:{port}"
    clean = {name: v for name, v in os.environ.items() if not name.startswith("TIDEGATE_")}
    with (folder / "overlord.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "supervisor.cli.main", "overlord", "--port", str(port)],
            cwd=folder,
            env=clean | {"TIDEGATE_DATA_DIR": str(folder / "data"), "PYTHONPATH": str(ROOT)},
            stdout=log,
            stderr=log,
        )
    try:
        wait_until(lambda: _leads(url))
        yield url
        logged = (folder / "overlord.log").read_text(encoding="utf-8")
        assert process.poll() is None, f"the overlord ended by itself; it logged:\n{logged}"
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def _leads(url: str) -> bool:
    try:
        answer = httpx.get(f"{url}/druid/indexer/v1/isLeader", timeout=5, trust_env=False)
    except httpx.HTTPError:
        return False
    return answer.status_code == httpx.codes.OK


def main() -> None:
    """Write the page."""
    page = ROOT / PAGE
    page.write_text(rewritten(page.read_text(encoding="utf-8"), session()), encoding="utf-8")


if __name__ == "__main__":
    main()
