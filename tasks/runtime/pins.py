"""The pinned jars (`jars.lock`), each with its revision and sha256.

A set has the name of its folder: `spark-<version of PySpark>` or `kafka-<version of the broker>`.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tasks.runtime.errors import JarsError

LOCK_FILE = Path(__file__).with_name("jars.lock")


@dataclass(frozen=True, order=True)
class Jar:
    """One artifact of a Maven repository and the digest that its file must have."""

    organisation: str
    artifact: str
    revision: str
    sha256: str

    @property
    def file_name(self) -> str:
        """The name of the jar's file, in our folders and in a user's."""
        return f"{self.artifact}-{self.revision}.jar"


@dataclass(frozen=True)
class JarSet:
    """The complete jars of one part: a fetch resolves nothing more."""

    name: str
    jars: tuple[Jar, ...]


def read_lock(lock: Path = LOCK_FILE) -> dict[str, JarSet]:
    """Read all pinned sets, by name."""
    sets = json.loads(lock.read_text())
    return {name: JarSet(name, tuple(Jar(**jar) for jar in jars)) for name, jars in sets.items()}


def write_lock(sets: Sequence[JarSet], lock: Path = LOCK_FILE) -> None:
    """Write all pinned sets, sorted, so that a change reads as a diff."""
    text = {
        each.name: [vars(jar) for jar in sorted(each.jars)]
        for each in sorted(sets, key=lambda s: s.name)
    }
    lock.write_text(json.dumps(text, indent=1) + "\n")


def digest(path: Path) -> str:
    """Return the sha256 of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def verified(folder: Path, pinned: JarSet) -> list[Path]:
    """Return the pinned jars in `folder` after a check of their digests.

    Raises:
        JarsError: a jar is absent or differs from its pin.
    """
    paths = [folder / jar.file_name for jar in pinned.jars]
    if absent := [path.name for path in paths if not path.is_file()]:
        raise JarsError(f"{folder} lacks jars of {pinned.name}: {', '.join(absent)}")
    for path, jar in zip(paths, pinned.jars, strict=True):
        if (actual := digest(path)) != jar.sha256:
            raise JarsError(
                f"{path} is not the jar that {pinned.name} pins: its sha256 is {actual}, "
                f"expected is {jar.sha256}; remove it, and find out who changed it"
            )
    return paths


def refuse_unknown(folder: Path, pinned: JarSet) -> None:
    """Refuse a folder of ours that holds a jar without a pin.

    Raises:
        JarsError: there is such a jar.
    """
    known = {jar.file_name for jar in pinned.jars}
    if unknown := sorted(path.name for path in folder.glob("*.jar") if path.name not in known):
        raise JarsError(f"{folder} holds jars that {pinned.name} does not pin: {unknown}")
