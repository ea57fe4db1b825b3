"""Protobuf sources, as some registries hold them, compiled to descriptors by Google's `protoc`.

    a .proto file and its imports ─► a folder of their own ─► protoc, a process of its own
                                                                   └─► a descriptor of each

The compiler comes with grpcio-tools.  It reads only that folder and its own google/protobuf files.
It runs in a process of its own, so a hostile source cannot harm the worker.
"""

import re
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

TIMEOUT_S = 20.0
"""Timeout of one compilation; most take a tenth of a second."""

_OWN_SPACE = "google/protobuf/"
_NAME_MAX = 200
_ERROR_CHARS_MAX = 300
_OF_A_LOG = re.compile(r"WARNING: All log messages|[IWEF][0-9]{4} ")
"""Log lines of the compiler's library, as opposed to diagnostics of the source."""


class NotCompiledError(Exception):
    """The compiler refuses a source; the message has the reason."""


class NoCompilerError(Exception):
    """The compiler is missing or failed by itself; the source may be valid."""


def compiled(
    text: str, imports: Sequence[tuple[str, str]], *, timeout_s: float = TIMEOUT_S
) -> tuple[FileDescriptorProto, list[tuple[str, FileDescriptorProto]]]:
    """Return the descriptor of a source, and (name, descriptor) of its imports in their order.

    Imports of google/protobuf are left out, because every reader has them.

    Raises:
        NotCompiledError: a name is not the path of an import, or a text is not a valid source.
        NoCompilerError: grpcio-tools is missing, the compiler took longer than `timeout_s` or was
            killed, or the disk is full.
    """
    if find_spec("grpc_tools") is None:
        raise NoCompilerError(
            "the registry holds sources of Protobuf, which need a compiler here: "
            "pip install 'tidegate[spark]' brings it (grpcio-tools)"
        )
    own = [(name, source) for name, source in imports if not name.startswith(_OWN_SPACE)]
    main = "schema.proto"
    while main in dict(own):
        main = f"_{main}"
    try:
        with TemporaryDirectory(prefix="tidegate-protoc-") as folder:
            sources = Path(folder, "sources")
            for name, source in (*own, (main, text)):
                _write(sources, name, source)
            held = _run(Path(folder), [*dict(own), main], timeout_s)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoCompilerError(f"Protobuf's compiler: {error}"[:_ERROR_CHARS_MAX]) from error
    files = {file.name: file for file in held.file}
    return files[main], [(name, files[name]) for name in dict(own)]


def _write(folder: Path, name: str, source: str) -> None:
    path = PurePosixPath(name)
    odd = "\\" in name or not name.isprintable() or str(path) != name or name.startswith("-")
    if odd or path.is_absolute() or ".." in path.parts or not 0 < len(name) <= _NAME_MAX:
        raise NotCompiledError(f"{name[:_NAME_MAX]!r} is no path of an import")
    try:
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(source, encoding="utf-8", newline="")
    except (FileExistsError, NotADirectoryError, IsADirectoryError, UnicodeEncodeError) as error:
        raise NotCompiledError(f"{name!r} cannot be written: {error}") from error


def _run(folder: Path, names: Sequence[str], timeout_s: float) -> FileDescriptorSet:
    out = folder / "descriptors"
    # `-I`: neither the environment nor the working folder changes which code runs.
    compiler = (sys.executable, "-I", "-m", "grpc_tools.protoc")
    where = ("--proto_path=.", f"--descriptor_set_out={out}")
    done = subprocess.run(
        [*compiler, *where, *names],
        cwd=folder / "sources",
        env={},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=timeout_s,
        check=False,
    )
    if done.returncode == 0:
        return FileDescriptorSet.FromString(out.read_bytes())
    lines = done.stderr.decode(errors="replace").splitlines()
    message = "; ".join(line for line in lines if not _OF_A_LOG.match(line))[:_ERROR_CHARS_MAX]
    # A diagnostic begins with the name of the source; any other line is the compiler's own trouble.
    if any(line.startswith(f"{name}:") for line in lines for name in names):
        raise NotCompiledError(message)
    raise NoCompilerError(f"Protobuf's compiler ended with {done.returncode}: {message}")
