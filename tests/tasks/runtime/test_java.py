"""Which Java is found, what is said when there is none, and whom the bundled one trusts."""

import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tasks.runtime.errors import JavaMissing
from tasks.runtime.ivy import pyspark_folder
from tasks.runtime.java import Java, find_java, parse_version

pytestmark = pytest.mark.process


@pytest.fixture
def no_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty folder as PATH, and no JAVA_HOME."""
    path = tmp_path / "path"
    path.mkdir()
    monkeypatch.setenv("PATH", str(path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    return path


def fake_java(place: Path, version: str) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-01-01' >&2\n")
    place.chmod(0o755)


def test_without_an_installed_java_the_bundled_one_is_found_and_runs(
    no_java: Path, tmp_path: Path
) -> None:
    java = find_java("auto", tmp_path / "data")

    assert java.bundled
    assert java.version == 21
    assert no_java not in java.executable.parents
    command = [str(java.executable), *java.tls_flags(), "-version"]
    subprocess.run(command, check=True, capture_output=True, timeout=60)


def test_an_installed_java_that_fits_comes_before_the_bundled_one(
    no_java: Path, tmp_path: Path
) -> None:
    fake_java(no_java / "java", "17.0.15")

    assert find_java("auto", tmp_path) == Java(no_java / "java", 17, bundled=False)


def test_java_home_comes_before_the_path(
    no_java: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_java(no_java / "java", "17.0.15")
    fake_java(tmp_path / "jdk" / "bin" / "java", "21.0.8")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))

    assert find_java("auto", tmp_path).executable == tmp_path / "jdk" / "bin" / "java"


@pytest.mark.parametrize("version", ["1.8.0_432", "11.0.2", "25.0.1"])
def test_an_installed_java_that_does_not_fit_is_passed_over(
    version: str, no_java: Path, tmp_path: Path
) -> None:
    fake_java(no_java / "java", version)

    assert find_java("auto", tmp_path).bundled


def test_bundled_means_bundled_whatever_is_installed(no_java: Path, tmp_path: Path) -> None:
    fake_java(no_java / "java", "21.0.8")

    assert find_java("bundled", tmp_path).bundled


def test_a_path_without_a_java_is_an_error_that_names_it_and_the_fix(tmp_path: Path) -> None:
    wrong = tmp_path / "no" / "java"

    with pytest.raises(JavaMissing) as raised:
        find_java(str(wrong), tmp_path)

    assert "install a JDK 17 or 21, or pip install 'tidegate[java]'" in str(raised.value)
    assert str(wrong) in str(raised.value)


def test_a_path_to_another_java_is_refused_with_its_version(tmp_path: Path) -> None:
    fake_java(tmp_path / "java", "11.0.2")

    with pytest.raises(JavaMissing, match="Java 11, needed is 17 or 21"):
        find_java(str(tmp_path / "java"), tmp_path)


@pytest.mark.parametrize(
    ("output", "version"),
    [
        ('openjdk version "21.0.8" 2025-07-15 LTS', 21),
        ('java version "1.8.0_432"', 8),
        ('openjdk version "17-ea" 2021-09-14', 17),
        ("command not found", None),
    ],
)
def test_the_version_is_read_from_what_a_java_says(output: str, version: int | None) -> None:
    assert parse_version(output) == version


def test_the_truststore_is_written_once_per_content_of_the_bundle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = tmp_path / "ca.crt"
    bundle.write_bytes(certificate_and_key("one")[0])
    monkeypatch.setenv("SSL_CERT_FILE", str(bundle))
    first = find_java("bundled", tmp_path / "data").truststore
    assert first is not None
    written = first.stat().st_mtime_ns
    again = find_java("bundled", tmp_path / "data").truststore

    bundle.write_bytes(certificate_and_key("two")[0])
    changed = find_java("bundled", tmp_path / "data").truststore

    assert again == first
    assert first.stat().st_mtime_ns == written
    assert changed not in {first, None}


def test_the_bundled_java_trusts_the_private_ca_that_python_trusts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: fetching works behind a proxy with a CA of its own, as pip does."""
    certificate, key = certificate_and_key("localhost")
    (tmp_path / "ca.crt").write_bytes(certificate)
    (tmp_path / "server.pem").write_bytes(certificate + key)
    with https_server(tmp_path / "server.pem") as (port, requested):
        plain = find_java("bundled", tmp_path)
        look_up(plain, port, tmp_path)
        assert requested == []  # the system's bundle does not know this CA

        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.crt"))
        look_up(find_java("bundled", tmp_path), port, tmp_path)

        assert "/group/thing/1/thing-1.pom" in requested


def look_up(java: Java, port: int, folder: Path) -> None:
    """Have a Java ask for a module over TLS, by the Ivy that PySpark ships."""
    pyspark = pyspark_folder()
    assert pyspark is not None
    settings = folder / "settings.xml"
    settings.write_text(
        '<ivysettings><settings defaultResolver="r"/><resolvers><ibiblio name="r"'
        f' m2compatible="true" root="https://localhost:{port}/"/></resolvers></ivysettings>'
    )
    subprocess.run(
        [
            *(str(java.executable), *java.tls_flags(), f"-Divy.default.ivy.user.dir={folder}/ivy"),
            *("-cp", str(next((pyspark / "jars").glob("ivy-*.jar"))), "org.apache.ivy.Main"),
            *("-settings", str(settings), "-cache", f"{folder}/cache"),
            *("-dependency", "group", "thing", "1"),
        ],
        check=False,  # the module is not there in either case: what counts is who was asked
        capture_output=True,
        timeout=120,
    )


class QuietServer(ThreadingHTTPServer):
    """Says nothing of a handshake that the other side broke off: that is what is tested."""

    def handle_error(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def https_server(pem: Path) -> Iterator[tuple[int, list[str]]]:
    """Serve nothing but 404 over TLS; yield the port and the paths that were asked for."""
    requested: list[str] = []

    class Absent(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            requested.append(self.path)
            self.send_error(404)

        def do_HEAD(self) -> None:
            self.do_GET()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    with QuietServer(("127.0.0.1", 0), Absent) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server.server_port, requested
        finally:
            server.shutdown()
            thread.join()


def certificate_and_key(name: str) -> tuple[bytes, bytes]:
    """Return a self-signed CA certificate for a host, and its key, as PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    who = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(who, who, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    return (
        certificate.public_bytes(serialization.Encoding.PEM),
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ),
    )
