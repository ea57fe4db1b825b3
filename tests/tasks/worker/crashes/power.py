"""What a power loss would leave, judged from the system calls of a real process.

    strace, or the interpreter's record ──► calls in order ──► Disk: what is not yet durable

The strictest disk that POSIX allows: content is durable after an fsync of the file, a name after
one of its folder, and nothing else is.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

_CALLS = (
    "openat,creat,mkdir,mkdirat,rename,renameat,renameat2,unlink,unlinkat,"
    "write,writev,pwrite64,pwritev,ftruncate,fsync,fdatasync"
)
_TIMEOUT_S = 120
_LINE = re.compile(r"^(?P<pid>\d+)\s+(?P<name>\w+)\((?P<rest>.*)$")
_RESUMED = re.compile(r"^(?P<pid>\d+)\s+<\.\.\. (?P<name>\w+) resumed>(?P<rest>.*)$")
_UNFINISHED = " <unfinished ...>"
_ON = re.compile(r"^\d+<(?P<path>[^>]*)>")
_NAMED = re.compile(r"(?:(?:AT_FDCWD|\d+)<(?P<at>[^>]*)>, )?\"(?P<path>[^\"]*)\"")
_FAILED = re.compile(r"= -1 E\w+")


@dataclass(frozen=True)
class Call:
    """One change, in the order in which they took effect."""

    name: str
    """create, write, mkdir, rename, unlink, fsync."""
    path: Path
    target: Path | None = None


@dataclass
class Disk:
    """What of a folder is not durable yet."""

    contents: set[Path] = field(default_factory=set)
    names: set[Path] = field(default_factory=set)

    def take(self, call: Call) -> None:
        """Make the change."""
        match call.name:
            case "create":
                self.contents.add(call.path)
                self.names.add(call.path)
            case "mkdir":
                self.names.add(call.path)
            case "write":
                self.contents.add(call.path)
            case "unlink":
                self.contents.discard(call.path)
                self.names.discard(call.path)
            case "rename":
                assert call.target is not None
                self.names.discard(call.path)
                self.names.add(call.target)
                if call.path in self.contents:
                    self.contents.remove(call.path)
                    self.contents.add(call.target)
            case "fsync":
                self.contents.discard(call.path)
                self.names = {name for name in self.names if name.parent != call.path}

    def lost(self, below: Path) -> list[str]:
        """Return what a power loss would take, below a folder and with its own name."""
        gone = {*self.contents, *self.names}
        return sorted(str(p) for p in gone if p == below or p.is_relative_to(below))


def has_strace() -> bool:
    """Whether the kernel's own record can be had."""
    return shutil.which("strace") is not None


def recorded(folder: Path, *, strace: bool, planted: str = "") -> list[Call]:
    """Run `tests.tasks.worker.crashes.durable` in `folder` and return the calls below it."""
    log = folder.with_name(f"{folder.name}.calls")
    program = [sys.executable, "-m", "tests.tasks.worker.crashes.durable", str(folder)]
    program += ["" if strace else str(log), planted]
    tracer = ["strace", "-f", "-y", "-qq", "-s", "0", "-e", f"trace={_CALLS}", "-o", str(log)]
    done = subprocess.run(
        [*tracer, *program] if strace else program,
        cwd=Path(__file__).parents[4],
        env=dict(os.environ),
        stdout=subprocess.DEVNULL,  # the log
        stderr=subprocess.PIPE,
        text=True,
        timeout=_TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4_000:]
    lines = log.read_text(errors="replace").splitlines()
    calls = _of_strace(lines) if strace else _of_interpreter(lines)
    return [call for call in calls if call.path.is_relative_to(folder)]


def _of_interpreter(lines: list[str]) -> Iterator[Call]:
    for line in lines:
        name, path, *target = line.split("\t")
        yield Call(name, Path(path), Path(target[0]) if target else None)


def _of_strace(lines: list[str]) -> Iterator[Call]:
    begun: dict[tuple[str, str], str] = {}
    for line in lines:
        if (matched := _RESUMED.match(line)) is not None:
            key = matched["pid"], matched["name"]
            name, rest = matched["name"], begun.pop(key, "") + matched["rest"]
        elif (matched := _LINE.match(line)) is not None:
            name, rest = matched["name"], matched["rest"]
            if rest.endswith(_UNFINISHED):
                begun[matched["pid"], name] = rest.removesuffix(_UNFINISHED)
                continue
        else:
            continue
        if not _FAILED.search(rest):
            yield from _call(name, rest)


def _call(name: str, rest: str) -> Iterator[Call]:
    if name in {"fsync", "fdatasync", "write", "writev", "pwrite64", "pwritev", "ftruncate"}:
        if (on := _ON.match(rest)) is not None:
            yield Call("fsync" if "sync" in name else "write", Path(on["path"]))
        return
    paths = [Path(found["at"] or "", found["path"]) for found in _NAMED.finditer(rest)]
    if name in {"openat", "creat"} and ("O_CREAT" in rest or name == "creat"):
        yield Call("create", paths[0])
    elif name.startswith("mkdir"):
        yield Call("mkdir", paths[0])
    elif name.startswith("unlink"):
        yield Call("unlink", paths[0])
    elif name.startswith("rename"):
        yield Call("rename", paths[0], paths[1])
