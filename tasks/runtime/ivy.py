"""Apache Ivy, as PySpark ships it, run with settings and a cache of our own.

By default Ivy first searches the user's Maven folder, and a description there without its jar is
fatal.  So Ivy gets a settings file with the central repository only, and it writes only below the
folder that the caller names.
"""

import importlib.util
import os
import re
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from xml.sax.saxutils import quoteattr

from tasks.runtime.errors import JarsError
from tasks.runtime.java import Java, java_locale
from tasks.runtime.pins import Jar
from tasks.runtime.tied import tied_argv

CONNECT_TIMEOUT_MS = 20_000
READ_TIMEOUT_MS = 60_000
RUN_TIMEOUT_S = 900.0
"""Timeout of one run of Ivy: some 70 MB over a slow line."""

_TAIL_LINES = 12
_DOWNLOADING = re.compile(r"downloading \S*/([^/\s]+\.jar) \.\.\.")


@dataclass(frozen=True)
class Ivy:
    """One installed Ivy, the Java that runs it, and the folder that it may write to."""

    java: Java
    folder: Path

    def fetch(self, jars: Sequence[Jar], into: Path, notify: Callable[[str], None]) -> None:
        """Fetch exactly these jars as `into`/<file name>; nothing is resolved.

        Raises:
            JarsError: a jar could not be fetched; the message ends with Ivy's output.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        wanted = self.folder / "wanted.xml"
        wanted.write_text(_module(jars))
        pattern = "[artifact]-[revision].[ext]"
        # Without POMs: the list is complete, and each POM would be one more request.
        self._run(["-ivy", str(wanted)], pattern, into=into, use_poms=False, notify=notify)

    def resolve(
        self,
        organisation: str,
        module: str,
        revision: str,
        *,
        into: Path,
        notify: Callable[[str], None],
    ) -> None:
        """Fetch a module and its dependencies, as `into`/organisation/artifact/revision/file.

        Raises:
            JarsError: the module could not be resolved.
        """
        pattern = "[organisation]/[artifact]/[revision]/[artifact]-[revision].[ext]"
        named = ["-dependency", organisation, module, revision]
        wanted = [*named, "-types", "jar", "bundle"]
        self._run(wanted, pattern, into=into, use_poms=True, notify=notify)

    def _run(
        self,
        wanted: list[str],
        pattern: str,
        *,
        into: Path,
        use_poms: bool,
        notify: Callable[[str], None],
    ) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        into.mkdir(parents=True, exist_ok=True)
        settings = self.folder / f"settings-{'poms' if use_poms else 'jars'}.xml"
        settings.write_text(_settings(use_poms))
        command = [
            *(str(self.java.executable), *self.java.tls_flags(), *proxy_flags(os.environ)),
            f"-Divy.default.ivy.user.dir={self.folder}",
            f"-Dsun.net.client.defaultConnectTimeout={CONNECT_TIMEOUT_MS}",
            f"-Dsun.net.client.defaultReadTimeout={READ_TIMEOUT_MS}",
            *("-cp", str(_ivy_jar()), "org.apache.ivy.Main"),
            *("-settings", str(settings), "-cache", str(self.folder / "cache")),
            # Ivy takes a path for a pattern too, so a user's folder must not be part of it.
            *("-confs", "default", *wanted, "-retrieve", pattern),
        ]
        _run(command, into, notify)


def pyspark_folder() -> Path | None:
    """Return the folder of the installed PySpark without importing it; None if there is none."""
    spec = importlib.util.find_spec("pyspark")
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))


def proxy_flags(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return `HTTPS_PROXY`, which pip obeys and a Java does not, as `-D` flags."""
    proxy = environment.get("HTTPS_PROXY") or environment.get("https_proxy")
    parts = urlsplit(proxy or "")
    if not parts.hostname:
        return ()
    return (f"-Dhttps.proxyHost={parts.hostname}", f"-Dhttps.proxyPort={parts.port or 80}")


def _ivy_jar() -> Path:
    folder = pyspark_folder()
    if folder is None:
        raise JarsError("jars are fetched by the Ivy in PySpark: pip install 'tidegate[spark]'")
    jars = sorted((folder / "jars").glob("ivy-*.jar"))
    if not jars:
        raise JarsError(f"this PySpark ships no Ivy: there is no ivy-*.jar in {folder / 'jars'}")
    return jars[-1]


def _settings(use_poms: bool) -> str:
    # Ivy's own default is the central repository, so its address is not repeated here.
    resolver = f'<ibiblio name="central" m2compatible="true" usepoms="{str(use_poms).lower()}"/>'
    return (
        '<ivysettings><settings defaultResolver="central"/>'
        f"<resolvers>{resolver}</resolvers></ivysettings>\n"
    )


def _module(jars: Sequence[Jar]) -> str:
    dependencies = "".join(
        f"<dependency org={quoteattr(jar.organisation)} name={quoteattr(jar.artifact)}"
        f' rev={quoteattr(jar.revision)} transitive="false" conf="default-&gt;default"/>\n'
        for jar in jars
    )
    return (
        '<ivy-module version="2.0"><info organisation="tidegate" module="jars"/>'
        f'<configurations><conf name="default"/></configurations>\n'
        f"<dependencies>{dependencies}</dependencies></ivy-module>\n"
    )


def _run(command: list[str], folder: Path, notify: Callable[[str], None]) -> None:
    lines: list[str] = []
    with subprocess.Popen(
        tied_argv(command),  # if the waiting process dies, the fetch ends
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        cwd=folder,
        env=os.environ | java_locale(),
    ) as process:
        assert process.stdout is not None
        bound = threading.Timer(RUN_TIMEOUT_S, process.kill)
        bound.start()
        try:
            for line in process.stdout:
                lines = [*lines, line.rstrip()][-_TAIL_LINES * 4 :]
                if match := _DOWNLOADING.search(line):
                    notify(f"fetching {match[1]}")
        finally:
            bound.cancel()
            process.kill()  # does nothing to one that has ended by itself
    if process.returncode != 0:
        tail = [line for line in lines if line.strip(" .:\t")][-_TAIL_LINES:]
        raise JarsError(
            "jars could not be fetched (without a network, name a folder that has them in "
            f"TIDEGATE_JARS); Ivy ended with {process.returncode} and said:\n" + "\n".join(tail)
        )
