"""Classes are recorded once and mapped by later JVMs; whatever is wrong, a worker starts.

Slow: JVMs start with archives of every kind.
"""

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pyspark
import pytest
from structlog.testing import capture_logs

from tasks.runtime.java import Java
from tasks.spark.class_archive import (
    ArchiveError,
    ClassArchive,
    begin_archive,
    find_archive,
    start_with,
)
from tasks.spark.session import SparkFailed, SparkOptions, SparkRuntime, class_path
from tests.environment.brokers import shared_java
from tests.environment.small_disks import can_mount, mounted

pytestmark = pytest.mark.process

_JAVA = """#!/bin/sh
for each in "$@"; do case "$each" in -XX:SharedArchiveFile=*) file="${each#*=}";; esac; done
case "$*" in *-Xshare:dump*) echo base > "$file"; exit 0;; esac
case "$*" in *SharedArchiveFile*) exit 134;; esac
echo out of luck
exit 3
"""
_JCMD = '#!/bin/sh\necho "$1 $2 $3" > "{work}/$4"\n'
_NO_SPACE = "#!/bin/sh\necho No space left on device\nexit 1\n"


@pytest.fixture(autouse=True)
def _nothing_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests themselves run with an archive that such a variable names."""
    for name in ("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS"):
        monkeypatch.delenv(name, raising=False)


class Site:
    """A Java of shell scripts, a jar, the cache of jars of a worker, and its working folder."""

    def __init__(self, folder: Path) -> None:
        self.jars, self.work, home = (folder / name for name in ("jars", "work", "java"))
        for each in (self.jars, self.work, home / "bin", home / "lib"):
            each.mkdir(parents=True)
        self.java = Java(home / "bin" / "java", 21, bundled=False)
        self.modules = home / "lib" / "modules"
        self.modules.touch()
        self.jar = folder / "one.jar"
        self.jar.touch()
        self.jcmd = home / "bin" / "jcmd"
        _write(self.java.executable, _JAVA)
        _write(self.jcmd, _JCMD.format(work=self.work))

    def find(self, *folders: Path) -> ClassArchive:
        return find_archive(self.java, [self.jar], *(folders or [self.jars]))

    def begin(self) -> ClassArchive:
        return begin_archive(self.java, [self.jar], self.jars)

    def make(self) -> Path:
        """Do what the command does, with a JVM that lives."""
        self.begin().keep(17, self.work)
        archive = self.find().file
        assert archive is not None
        return archive

    def names(self) -> list[str]:
        return sorted(path.name for path in (self.jars / "classes").iterdir())


def _write(script: Path, text: str) -> None:
    script.write_text(text)
    script.chmod(0o755)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def test_what_one_jvm_has_recorded_others_map(site: Site) -> None:
    assert site.find() == ClassArchive()

    making = site.begin()
    making.keep(17, site.work)
    later = site.find()

    assert "-XX:+RecordDynamicDumpInfo" in making.flags
    assert later.file is not None
    assert later.file.read_text() == "17 VM.cds dynamic_dump\n"
    assert f"-XX:SharedArchiveFile={later.file}" in later.flags
    assert "-XX:+RecordDynamicDumpInfo" not in later.flags
    assert site.names() == [f"{later.file.stem}-base.jsa", later.file.name, "lock"]
    assert not list(site.work.iterdir())


@pytest.mark.parametrize("changed", ["java", "jar", "options"])
def test_an_archive_that_fits_no_more_is_not_used_and_goes_when_another_is_made(
    site: Site, monkeypatch: pytest.MonkeyPatch, changed: str
) -> None:
    """Goal: an upgrade in place, under the same names, is noticed."""
    old = site.make()
    if changed == "options":
        monkeypatch.setenv("JDK_JAVA_OPTIONS", "-XX:+UseZGC")
    else:
        os.utime(site.modules if changed == "java" else site.jar, (1, 1))

    assert site.find() == ClassArchive()
    new = site.make()

    assert not old.exists()
    assert site.names() == [f"{new.stem}-base.jsa", new.name, "lock"]


def test_the_archive_of_a_folder_that_was_moved_is_not_used(site: Site) -> None:
    """Goal: the JVM would look for the base where it was, and find none."""
    site.make()
    site.jars = site.jars.rename(site.jars.with_name("elsewhere"))

    assert site.find() == ClassArchive()


@pytest.mark.parametrize(
    "flags",
    ["-Xshare:off", "-Xmx1g -XX:SharedArchiveFile=/x.jsa", "-XX:ArchiveClassesAtExit=/x.jsa"],
)
@pytest.mark.parametrize("name", ["JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS"])
def test_the_operators_choice_of_an_archive_or_of_none_counts(
    site: Site, monkeypatch: pytest.MonkeyPatch, name: str, flags: str
) -> None:
    site.make()
    monkeypatch.setenv(name, flags)

    assert site.find() == ClassArchive()
    with pytest.raises(ArchiveError, match="chooses an archive"):
        site.begin()


def test_one_process_makes_it_and_meanwhile_others_have_none(site: Site) -> None:
    making = site.begin()

    assert site.find() == ClassArchive()
    with pytest.raises(ArchiveError, match="another process makes it now"):
        site.begin()

    making.keep(17, site.work)
    assert site.find().file is not None


def test_a_java_without_jcmd_can_make_none(site: Site) -> None:
    site.jcmd.unlink()

    with pytest.raises(ArchiveError, match="this Java has no jcmd"):
        site.begin()


def test_a_dump_that_fails_leaves_no_archive(site: Site) -> None:
    _write(site.jcmd, _NO_SPACE)

    with pytest.raises(ArchiveError, match="jcmd ended with 1: No space left on device"):
        site.begin().keep(17, site.work)

    assert site.find() == ClassArchive()
    _write(site.jcmd, _JCMD.format(work=site.work))
    assert site.make().exists()


if can_mount():

    def test_a_disk_that_is_nearly_full_gets_none(site: Site) -> None:
        with mounted(site.jars, size="8m"), pytest.raises(ArchiveError, match="MiB are free"):
            site.begin()


@pytest.mark.parametrize("what", ["archive", "base", "folder"])
def test_an_archive_that_others_may_write_is_not_run(site: Site, what: str) -> None:
    """Goal: it is code, and no digest of it is pinned."""
    archive = site.make()
    base = archive.with_name(f"{archive.stem}-base.jsa")
    {"archive": archive, "base": base, "folder": archive.parent}[what].chmod(0o777)

    assert site.find() == ClassArchive()


def test_the_first_folder_that_has_one_counts(site: Site, tmp_path: Path) -> None:
    archive = site.make()

    assert site.find(tmp_path / "image", site.jars).file == archive


def _never(_: SparkRuntime) -> None:
    raise AssertionError


def test_a_jvm_that_ends_with_an_archive_is_started_again_without(site: Site) -> None:
    """Goal: a worker starts, whatever is wrong with the file."""
    file = site.make()
    options = SparkOptions(site.java, [], site.work)

    with capture_logs() as lines, pytest.raises(SparkFailed, match=r"ended with 3.*out of luck"):
        start_with(site.find(), options, _never)

    assert [line["event"] for line in lines] == ["starting again without the class archive"]
    assert "ended with 134" in lines[0]["why"]
    assert not file.exists()


def test_the_class_path_is_in_the_order_of_names(tmp_path: Path) -> None:
    """Goal: that of a folder differs from disk to disk, and the JVM compares it."""
    jar = tmp_path / "connector.jar"
    here = SparkOptions(shared_java(), [jar], tmp_path)

    *own, last = class_path(here)

    assert len(own) > 200
    assert own == sorted(own)
    assert last == jar
    assert class_path(replace(here, master="yarn")) == own  # `--jars` sends it after the JVM


# -- a real JVM --------------------------------------------------------------------------------


@contextmanager
def _serving(flags: tuple[str, ...], jar: Path, folder: Path) -> Iterator[int]:
    """Run the smallest server of the jars at hand; its first line is its port, or a warning."""
    argv = (str(shared_java().executable), *flags, "-cp", str(jar), "py4j.GatewayServer")
    with subprocess.Popen(
        (*argv, "--die-on-broken-pipe", "0"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=folder,
        text=True,
    ) as jvm:
        assert jvm.stdout is not None
        assert jvm.stdout.readline().strip().isdigit()
        yield jvm.pid
        jvm.communicate()  # closes its input, which ends it


@pytest.fixture
def py4j() -> Path:
    [jar] = (Path(pyspark.__file__).parent / "jars").glob("py4j-*.jar")
    return jar


@pytest.fixture
def recorded(py4j: Path, site: Site) -> Path:
    """An archive of a real JVM."""
    making = begin_archive(shared_java(), [py4j], site.jars)
    with _serving(making.flags, py4j, site.work) as pid:
        making.keep(pid, site.work)
    mapped = find_archive(shared_java(), [py4j], site.jars)
    assert mapped.file is not None
    return mapped.file


@pytest.mark.spark
def test_a_real_jvm_maps_what_another_has_recorded(recorded: Path, py4j: Path, site: Site) -> None:
    archive = find_archive(shared_java(), [py4j], site.jars)

    with _serving(archive.flags, py4j, site.work) as pid:
        assert str(recorded) in Path(f"/proc/{pid}/maps").read_text()


def _cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def _flipped(content: bytes) -> bytes:
    middle = len(content) // 2
    return (
        content[:middle]
        + bytes(255 - b for b in content[middle : middle + 4096])
        + content[middle + 4096 :]
    )


@pytest.mark.spark
@pytest.mark.parametrize("damage", [_cut, _flipped, lambda _: b""], ids=["cut", "flipped", "empty"])
@pytest.mark.parametrize("base", [False, True], ids=["archive", "base"])
def test_a_real_jvm_starts_quietly_with_a_damaged_archive(
    recorded: Path, py4j: Path, site: Site, damage: Callable[[bytes], bytes], *, base: bool
) -> None:
    file = recorded.with_name(f"{recorded.stem}-base.jsa") if base else recorded
    file.chmod(0o644)
    file.write_bytes(damage(file.read_bytes()))
    archive = find_archive(shared_java(), [py4j], site.jars)

    with _serving(archive.flags, py4j, site.work):
        assert archive.file == recorded


@pytest.mark.spark
def test_a_real_jvm_starts_quietly_with_an_archive_of_other_jars(
    recorded: Path, py4j: Path, site: Site
) -> None:
    copy = site.work / py4j.name
    copy.write_bytes(py4j.read_bytes())
    archive = find_archive(shared_java(), [py4j], site.jars)
    assert archive.file == recorded

    with _serving(archive.flags, copy, site.work):
        pass
