"""Is every planted fault of reports found by its test?

Each test has to pass as the product is, and to fail with the fault in place.
"""

import argparse
import sys

from tests.simulation.planted.finding import found_by_its_test
from tests.supervisor.reports.planted.faults import MUTANTS, PLUGIN, by_name


def main(arguments: list[str] | None = None) -> int:
    """Hunt each fault, and print what found it as rows of a table; 0 only if all were found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="the name of one fault")
    only = parser.parse_args(arguments).only
    wanted = [by_name(only)] if only else MUTANTS
    number = 0
    _print_line("| planted fault | what it does | from | found by |\n|---|---|---|---|")
    for mutant in wanted:
        is_seen = found_by_its_test(mutant, PLUGIN)
        number += is_seen
        test = mutant.direct.rpartition("::")[2].partition("[")[0]
        finder = f"`{test}`" if is_seen else "**nothing**"
        _print_line(f"| `{mutant.name}` | {mutant.story} | {mutant.rule} | {finder} |")
    _print_line(f"\n{number} of {len(wanted)} planted faults found")
    return 0 if number == len(wanted) else 1


def _print_line(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
