"""`python -m bench [name ...]`: measure, print, and with --write renew the page of the reference.

`--list` names the benchmarks, and the groups of them that a name can stand for as well: `size` is
a metadata database with a year of history, and a large fleet.  `--quick` does little of
everything, to see that all of it runs: its figures mean nothing and are never written.
"""

import argparse
import logging
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import structlog

from bench.figures import BENCHMARKS, GROUPS
from bench.machine import load_average, machine
from bench.report import PAGE, Measured, line, page
from bench.world import QUICK, Sizes, World


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the named benchmarks, or all; exit code 2 for a name that is none."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name")
    parser.add_argument("--list", action="store_true", help="name the benchmarks and end")
    parser.add_argument("--quick", action="store_true", help="see that they run; little work")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}; needs all")
    options = parser.parse_args(arguments)
    if options.list:
        print("\n".join(BENCHMARKS))
        print("\n".join(f"{group} = {' '.join(names)}" for group, names in GROUPS.items()))
        return 0
    if unknown := set(options.names) - BENCHMARKS.keys() - GROUPS.keys():
        parser.error(f"no benchmark {', '.join(sorted(unknown))}; --list names them")
    if options.write and (options.names or options.quick):
        parser.error("--write needs a full run of all benchmarks")
    quiet = structlog.make_filtering_bound_logger(logging.WARNING)
    structlog.configure(wrapper_class=quiet)
    names = [each for name in options.names for each in GROUPS.get(name, (name,))]
    measured = measure(names or list(BENCHMARKS), QUICK if options.quick else Sizes())
    if options.write:
        PAGE.write_text(page(machine(), measured))
    return 0


def measure(names: Sequence[str], sizes: Sizes) -> list[Measured]:
    """Run benchmarks in the order of the list and print each result."""
    found = []
    with (
        tempfile.TemporaryDirectory(prefix="tidegate-bench-") as folder,
        World(Path(folder), sizes) as world,
    ):
        for name in (name for name in BENCHMARKS if name in names):
            before = load_average()
            result = BENCHMARKS[name](world)
            found.append(Measured(result, (before, load_average())))
            print(line(found[-1]), flush=True)
    return found


if __name__ == "__main__":
    sys.exit(main())
