"""The commands that run a process for long, as a tree of their own.

The whole tree loads what all commands need, some 20 MB, and a process would hold it to its end.
"""

from supervisor.cli.cluster.serve import dev, executor, overlord, persister
from supervisor.cli.shell.root import new_root

__all__ = ["PROCESSES", "app"]

PROCESSES = (overlord, executor, persister, dev)

app = new_root()
for _process in PROCESSES:
    app.command()(_process)
