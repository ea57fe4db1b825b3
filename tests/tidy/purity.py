"""What pure modules may touch: the part that import-linter cannot see.

Deciding reads no clock, draws no random number, does no I/O, logs nothing, starts no thread.
"""

import ast
from collections.abc import Iterator

from tests.tidy.sources import Finding, nodes_of

PURE_FOLDERS = ("supervisor/core/", "tasks/contract/", "tasks/machine/", "tasks/rows/")
_MODULES = frozenset(
    [
        "asyncio",
        "concurrent",
        "glob",
        "http",
        "io",
        "logging",
        "multiprocessing",
        "os",
        "pathlib",
        "queue",
        "random",
        "secrets",
        "select",
        "selectors",
        "shutil",
        "signal",
        "socket",
        "sqlite3",
        "ssl",
        "subprocess",
        "sys",
        "tempfile",
        "threading",
        "time",
        "urllib",
        "warnings",
    ],
)
_ALLOWED = frozenset({"urllib.parse"})
_CALLS = frozenset({"open", "print", "input", "exec", "eval", "__import__"})
_CLOCKS = frozenset({"now", "utcnow", "today"})
_DATES = ("datetime", "date")
_DRAWN = frozenset({"uuid1", "uuid4"})


def is_pure(path: str) -> bool:
    """Whether the file at `path` promises to decide and do nothing else."""
    return path.endswith(".py") and path.startswith(PURE_FOLDERS)


def impurities(path: str, text: str) -> Iterator[Finding]:
    """Find what reads a clock, draws a random number, does I/O, logs or starts a thread."""
    if not is_pure(path):
        return
    for node in nodes_of(text):
        if what := _impurity(node):
            assert isinstance(node, ast.stmt | ast.expr)
            yield Finding("pure", path, node.lineno, "", f"{what}: a pure module takes it as input")


def _impurity(node: ast.AST) -> str:
    match node:
        case ast.Import(names=names):
            return ", ".join(f"imports {a.name}" for a in names if _is_outside(a.name))
        case ast.ImportFrom(module=str(module)) if _is_outside(module):
            return f"imports {module}"
        case ast.ImportFrom(module="uuid", names=names):
            return ", ".join(f"draws by {a.name}" for a in names if a.name in _DRAWN)
        case ast.Call(func=ast.Name(id=name)) if name in _CALLS:
            return f"calls {name}()"
        case ast.Call(func=ast.Attribute(attr=name)) if name in _CLOCKS:
            return f"reads a clock by {ast.unparse(node)}"
        case ast.Attribute(value=value, attr=name) if name in _CLOCKS:
            is_date = ast.unparse(value).endswith(_DATES)
            return f"reads a clock by {ast.unparse(node)}" if is_date else ""
        case ast.Attribute(attr=name) if name in _DRAWN:
            return f"draws by {name}"
        case _:
            return ""


def _is_outside(module: str) -> bool:
    return module not in _ALLOWED and module.partition(".")[0] in _MODULES
