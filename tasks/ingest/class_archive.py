"""`python -m tasks.ingest.class_archive --dir FOLDER`: make the class archive of workers.

FOLDER is the one that workers have as TIDEGATE_JARS, or the `jars` of a worker's data folder.  The
worker must see Java, PySpark and jars under the same names and with the same times, as it does in
the image of a container.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tasks.ingest.warm import warm_up
from tasks.runtime.errors import RuntimePartError
from tasks.runtime.jars import FORMATS, SPARK, ensure_jars
from tasks.runtime.java import Java, find_java
from tasks.spark.class_archive import ArchiveError, ClassArchive, begin_archive, find_archive
from tasks.spark.session import SparkOptions, class_path, start_spark


def make_archive(java: Java, jars: Sequence[Path], folder: Path) -> ClassArchive:
    """Return the archive in `folder`/classes, made if it is not there.

    Raises:
        RuntimePartError: Java, the JVM or the archive failed.
        OSError: the folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".classes-") as work:
        options = SparkOptions(java, jars, Path(work), master="local[1]")
        before = find_archive(java, class_path(options), folder)
        if before.file is not None:
            return before
        making = begin_archive(java, class_path(options), folder)
        try:
            runtime = start_spark(replace(options, flags=making.flags))
            try:
                warm_up(runtime.session, runtime.work_dir / "warm")
                making.keep(runtime.pid, runtime.work_dir)
            finally:
                runtime.stop()
        finally:
            making.drop()
        after = find_archive(java, class_path(options), folder)
        if after.file is None:
            raise ArchiveError(f"accounts other than this one may write {folder}")
        return after


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the archive; return 0, or 1 after the reason was printed."""
    parser = argparse.ArgumentParser(
        prog="python -m tasks.ingest.class_archive", description=main.__doc__
    )
    parser.add_argument("--dir", type=Path, required=True, help="folder that has the jars")
    parser.add_argument("--java", default=os.environ.get("TIDEGATE_JAVA", "auto"))
    options = parser.parse_args(arguments)
    try:
        with tempfile.TemporaryDirectory() as truststore:
            java = find_java(options.java, Path(truststore))
            jars = [
                jar
                for part in (SPARK, FORMATS)
                for jar in ensure_jars(options.dir, java, part, jars_folder=options.dir)
            ]
            archive = make_archive(java, jars, options.dir)
    except (RuntimePartError, OSError) as error:
        sys.stderr.write(f"no class archive: {error}\n")
        return 1
    sys.stdout.write(f"{archive.file}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
