"""Jars are fetched once, whole or not at all, and are what their pins say."""

import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from supervisor.cli.cluster.doctor.check import Result
from supervisor.cli.cluster.doctor.checks import check_jars
from tasks.runtime.errors import JarsError
from tasks.runtime.ivy import Ivy, proxy_flags, pyspark_folder
from tasks.runtime.jars import FORMATS, KAFKA, SPARK, JarGroup, ensure_jars, main, pinned_set
from tasks.runtime.java import Java
from tasks.runtime.pins import read_lock
from tests.environment.brokers import shared_jars, shared_java

pytestmark = pytest.mark.process

REPOSITORY = Path(__file__).parents[3]
NO_JAVA = Java(Path("there/is/no/java"), 21, bundled=False)
ONE_JAR = "commons-pool2-2.12.0.jar"


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """The only way out is a proxy that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{proxy.getsockname()[1]}")
        yield proxy


@pytest.fixture
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The only way out is a proxy that is not there."""
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{port}")


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """A cache of this test's own that has Spark's jars."""
    place = tmp_path / "jars" / pinned_set(SPARK).name
    shutil.copytree(shared_jars(SPARK)[0].parent, place)
    return place.parent


def test_the_connector_is_that_of_spark_and_brings_the_clients_it_was_built_with() -> None:
    """Source: the Kafka connector of Spark 4.0.0 is built with kafka-clients 3.9.0."""
    names = {path.name for path in shared_jars(SPARK)}

    assert {"spark-sql-kafka-0-10_2.13-4.0.0.jar", "kafka-clients-3.9.0.jar"} <= names
    assert len(names) == 6


def test_the_brokers_jars_are_of_one_revision_and_it_can_log() -> None:
    names = {path.name for path in shared_jars(KAFKA)}

    assert {"kafka_2.13-4.3.0.jar", "kafka-clients-4.3.0.jar"} <= names
    assert "slf4j-simple-1.7.36.jar" in names


def test_the_tags_that_spark_ships_are_the_same_as_the_pinned_ones() -> None:
    """Goal: a jar that is on Spark's class path already is not there a second time, changed."""
    pyspark = pyspark_folder()
    assert pyspark is not None
    shipped = {path.name for path in (pyspark / "jars").glob("*.jar")}
    pinned = {jar.file_name for jar in pinned_set(SPARK).jars}

    expected = {"spark-tags_2.13-4.0.0.jar", "scala-parallel-collections_2.13-1.2.0.jar"}
    assert shipped & pinned == expected


@pytest.mark.usefixtures("no_proxy")
def test_a_second_start_needs_neither_network_nor_java(tmp_path: Path, cache: Path) -> None:
    with pytest.raises(JarsError, match="could not be fetched"):
        ensure_jars(tmp_path / "new", shared_java(), SPARK)  # so the network is cut indeed

    found = ensure_jars(cache, NO_JAVA, SPARK)

    assert sorted(found) == sorted((cache / "spark-4.0.0").iterdir())


@pytest.mark.usefixtures("no_proxy")
def test_a_fetch_that_failed_leaves_no_set_behind(tmp_path: Path) -> None:
    for _ in range(2):
        with pytest.raises(JarsError, match="TIDEGATE_JARS"):
            ensure_jars(tmp_path, shared_java(), SPARK)

    assert not [path for path in tmp_path.iterdir() if path.name.startswith("spark")]


def test_a_fetch_that_was_killed_leaves_no_set_no_lock_and_no_process(
    tmp_path: Path, no_network: socket.socket
) -> None:
    fetch = start_fetch(tmp_path)
    no_network.settimeout(60)
    ivy, _ = no_network.accept()  # it has begun

    os.kill(fetch.pid, signal.SIGKILL)
    fetch.communicate(timeout=30)

    with ivy:
        ivy.settimeout(30)
        while ivy.recv(4096):  # ends when Ivy does
            pass
    assert not (tmp_path / "spark-4.0.0").exists()
    with (tmp_path / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


@pytest.mark.usefixtures("no_proxy")
def test_who_waits_for_the_fetch_of_another_uses_it(tmp_path: Path, cache: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    with (mine / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        other = start_fetch(mine)
        assert other.stdout is not None
        lines = iter(other.stdout.readline, "")
        assert any("waiting" in line for line in lines)

        (cache / "spark-4.0.0").rename(mine / "spark-4.0.0")

    output, _ = other.communicate(timeout=60)
    assert other.returncode == 0
    assert "6 jars checked" in output


def test_a_jar_that_was_changed_is_refused_by_name(cache: Path) -> None:
    jar = cache / "spark-4.0.0" / ONE_JAR
    with jar.open("ab") as file:
        file.write(b"\0")

    with pytest.raises(JarsError, match=rf"{ONE_JAR} is not the jar .* sha256 is .*, expected"):
        ensure_jars(cache, NO_JAVA, SPARK)


def test_a_jar_that_is_not_pinned_is_refused_by_name(cache: Path) -> None:
    shutil.copy(cache / "spark-4.0.0" / ONE_JAR, cache / "spark-4.0.0" / "extra-1.jar")

    with pytest.raises(JarsError, match=r"does not pin.*extra-1\.jar"):
        ensure_jars(cache, NO_JAVA, SPARK)


def test_a_jar_that_is_absent_is_named(cache: Path) -> None:
    (cache / "spark-4.0.0" / ONE_JAR).unlink()

    with pytest.raises(JarsError, match=f"lacks jars of spark-4.0.0: {ONE_JAR}"):
        ensure_jars(cache, NO_JAVA, SPARK)


@pytest.mark.parametrize("flat", [True, False])
def test_a_users_own_folder_is_used_as_it_is(flat: bool, tmp_path: Path, cache: Path) -> None:
    given = cache / "spark-4.0.0" if flat else cache
    (given / "theirs-1.jar").touch()

    found = ensure_jars(tmp_path / "unused", NO_JAVA, SPARK, jars_folder=given)

    assert {path.parent for path in found} == {cache / "spark-4.0.0"}
    assert not (tmp_path / "unused").exists()


def test_a_users_own_folder_is_checked_too(tmp_path: Path, cache: Path) -> None:
    (cache / "spark-4.0.0" / ONE_JAR).write_bytes(b"another")

    with pytest.raises(JarsError, match=ONE_JAR):
        ensure_jars(tmp_path, NO_JAVA, SPARK, jars_folder=cache)


def test_a_folder_from_before_there_were_formats_does_for_all_else(
    tmp_path: Path, cache: Path
) -> None:
    """Goal: who brought the jars along before an upgrade is told of one format, and goes on."""
    assert len(ensure_jars(tmp_path, NO_JAVA, SPARK, jars_folder=cache)) == 6

    with pytest.raises(JarsError, match=r"spark-formats-4.0.0: spark-avro_2.13-4.0.0.jar"):
        ensure_jars(tmp_path, NO_JAVA, FORMATS, jars_folder=cache)
    checked = check_jars(FORMATS, tmp_path, cache, NO_JAVA, fetch=False)
    assert (checked.result, "Avro records cannot be read" in checked.finding) == (Result.NOTE, True)


@pytest.mark.parametrize("name", ["a: b", "a\\b"])
def test_a_folder_that_jars_cannot_be_fetched_into_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(JarsError, match=r"jars cannot lie in .* TIDEGATE_JARS"):
        ensure_jars(tmp_path / name, NO_JAVA, SPARK)


def test_the_path_of_a_folder_is_no_part_of_what_ivy_takes_for_a_pattern(tmp_path: Path) -> None:
    """Goal: brackets and parentheses in a folder's name are brackets and parentheses."""
    into, java = tmp_path / "Copy (2) [a]", tmp_path / "java"
    java.write_text('#!/bin/sh\nfor last; do :; done\necho "$PWD $last" > "$0.told"\n')
    java.chmod(0o755)

    Ivy(Java(java, 21, bundled=False), tmp_path / "ivy").fetch([], into, print)

    arguments = (tmp_path / "java.told").read_text()
    assert arguments == f"{into} [artifact]-[revision].[ext]\n"


def test_each_pin_is_a_sha256_and_each_file_is_named_once() -> None:
    for pinned in read_lock().values():
        names = [jar.file_name for jar in pinned.jars]
        assert len(names) == len(set(names))
        assert all(len(bytes.fromhex(jar.sha256)) == 32 for jar in pinned.jars)


@pytest.mark.parametrize("part", list(JarGroup))
def test_the_pins_are_for_what_is_installed(part: JarGroup) -> None:
    assert pinned_set(part).jars


def test_the_command_says_why_it_failed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["--dir", str(tmp_path), "--java", str(tmp_path / "none")])

    assert status == 1
    assert "no usable Java" in capsys.readouterr().err


def test_a_proxy_that_pip_honours_is_told_to_java() -> None:
    flags = proxy_flags({"https_proxy": "http://proxy.example:3128"})

    assert flags == ("-Dhttps.proxyHost=proxy.example", "-Dhttps.proxyPort=3128")
    assert proxy_flags({}) == ()


def start_fetch(folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tasks.runtime.jars", "--dir", str(folder), "--which", "spark"]
    return subprocess.Popen(
        [*command, "--java", "bundled"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=REPOSITORY,
        text=True,
    )
