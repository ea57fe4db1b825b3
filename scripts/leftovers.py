"""End every process that outlived the test run it was started by, and name it.

`python scripts/leftovers.py RUN_ID`: exit code 1 if there was one.  A process belongs to a run
if TIDEGATE_RUN_ID in its environment says so, or if it descends from one that does: PostgreSQL
writes its title over the environment of its children.
"""

import os
import sys
from contextlib import suppress

import psutil

LEAVING_S = 3.0
"""How long a process that is already on its way out may take."""


def of_run(run_id: str) -> list[psutil.Process]:
    """Return the processes of the run, this one excepted."""
    found: dict[int, psutil.Process] = {}
    for process in psutil.process_iter():
        try:
            if process.environ().get("TIDEGATE_RUN_ID") != run_id:
                continue
            family = [process, *process.children(recursive=True)]
        except psutil.Error:
            continue  # another user's, or gone meanwhile
        found |= {one.pid: one for one in family if one.pid != os.getpid()}
    return list(found.values())


def describe(process: psutil.Process) -> str:
    """Return pid and command of a process, in one line."""
    try:
        return f"{process.pid} {' '.join(process.cmdline())[:200] or process.name()}"
    except psutil.Error:
        return f"{process.pid} (gone)"


def end(processes: list[psutil.Process]) -> None:
    """Kill processes, also where the end of one has already ended another."""
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(processes, timeout=LEAVING_S)


def main(run_id: str) -> int:
    """End what is left of the run; return 1 if there was anything, else 0."""
    _, left = psutil.wait_procs(of_run(run_id), timeout=LEAVING_S)
    if not left:
        return 0
    names = [describe(process) for process in left]
    end(left)
    print(f"scripts/test: {len(names)} processes outlived the tests and were killed:")
    for name in names:
        print(f"  {name}")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
