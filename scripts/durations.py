"""Sum up how long the files of tests took in the last runs of `scripts/test`.

    python scripts/durations.py [FILE.xml ...]     default: build/junit-*.xml

Prints the slowest files and tests, and the files above 20 seconds whose docstring does not say
`Slow: ` with the reason; exit code 1 if there is such a file.  Durations depend on the machine and
on what else it does: no test asserts one.
"""

import ast
import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree as ET

ROOT = Path(__file__).resolve().parent.parent
SLOW_S = 20.0
"""A file that takes longer says why."""
REASON = "Slow: "
SHOWN = 40


def durations(report: Path) -> Counter[tuple[str, str]]:
    """Return seconds of each (file, test) of a JUnit report."""
    found: Counter[tuple[str, str]] = Counter()
    for case in ET.parse(report).iter("testcase"):  # noqa: S314 -- written by our own pytest
        name = case.get("classname", "")
        found[file_of(name), case.get("name", "")] += float(case.get("time", "0"))
    return found


def file_of(class_name: str) -> str:
    """Return the file of a JUnit class name, which may end in a class."""
    words = class_name.split(".")
    for end in range(len(words), 0, -1):
        path = "/".join(words[:end]) + ".py"
        if (ROOT / path).exists():
            return path
    return class_name


def says_why(path: str) -> bool:
    """Whether the docstring of a file says why it is slow."""
    file = ROOT / path
    return file.exists() and REASON in (ast.get_docstring(ast.parse(file.read_text())) or "")


def main(arguments: list[str]) -> int:
    """Print the sums; return 1 if a slow file gives no reason, or if there is no report."""
    reports = [Path(one) for one in arguments] or sorted((ROOT / "build").glob("junit-*.xml"))
    tests: Counter[tuple[str, str]] = Counter()
    for report in reports:
        tests.update(durations(report))
    files: Counter[str] = Counter()
    for (path, _), seconds in tests.items():
        files[path] += seconds
    for path, seconds in files.most_common(SHOWN):
        print(f"{seconds:8.1f} s  {path}")
    print(
        f"{sum(files.values()):8.1f} s  of {len(tests)} tests in {len(files)} files; the slowest:"
    )
    for (path, test), seconds in tests.most_common(SHOWN):
        print(f"{seconds:8.1f} s  {path}::{test}")
    silent = [path for path, s in files.items() if s > SLOW_S and not says_why(path)]
    for path in sorted(silent):
        print(f"above {SLOW_S:.0f} s, and its docstring does not say `{REASON}why`: {path}")
    return 1 if silent or not reports else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
