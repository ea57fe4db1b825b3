"""The licences of the npm packages that a build of the console may contain."""

import json
from pathlib import Path

THIRD_PARTY = "THIRD-PARTY.txt"
_NAMES = ("licen[cs]e*", "LICEN[CS]E*", "Licen[cs]e*", "NOTICE*")
_RULE = "-" * 100


def licences(console: Path) -> str:
    """Return name, version, licence and its text, of each locked package that is not a tool."""
    locked = json.loads((console / "package-lock.json").read_text())["packages"]
    shipped = {path: package for path, package in locked.items() if path and not _is_tool(package)}
    parts = ["The console contains parts of these packages.\n"]
    for path, package in sorted(shipped.items()):
        name = path.rpartition("node_modules/")[2]
        head = f"{name} {package['version']}: {package.get('license', 'see its text')}"
        parts.append("\n\n".join((_RULE, head, *_texts(console / path))) + "\n")
    return "\n".join(parts)


def _is_tool(package: dict[str, object]) -> bool:
    return bool(package.get("dev") or package.get("devOptional") or package.get("optional"))


def _texts(folder: Path) -> list[str]:
    files = {path for pattern in _NAMES for path in folder.glob(pattern) if path.is_file()}
    return [path.read_text(encoding="utf-8").strip() for path in sorted(files)]
