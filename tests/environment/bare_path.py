"""A PATH of a machine that has the system's own tools, and no java, node or psql."""

import os
from pathlib import Path

ABSENT = ("java", "javac", "node", "nodejs", "npm", "npx", "psql", "postgres", "initdb", "mvn")
SYSTEM = (Path("/bin"), Path("/usr/bin"))


def bare_path(folder: Path) -> str:
    """Fill `folder` with links to the system's tools, less the absent ones; return it as a PATH."""
    folder.mkdir(parents=True, exist_ok=True)
    for tool in (tool for source in SYSTEM for tool in source.iterdir()):
        link = folder / tool.name
        if tool.name not in ABSENT and os.access(tool, os.X_OK) and not link.is_symlink():
            link.symlink_to(tool)
    return str(folder)
