"""A process that writes batches of 50 records and says the number of each, until it is killed."""

import sys
from itertools import count

from tests.conformance.reports.report_stores import opener, report


def main() -> None:
    """Write into the store at the place that the command line names."""
    store = opener(sys.argv[1])()
    for batch in count(1):
        store.put_many([report(f"t{n}", attempt=batch) for n in range(50)])
        sys.stdout.write(f"{batch}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
