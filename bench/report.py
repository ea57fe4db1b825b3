"""Results as text: a line for the terminal, a page for the reference."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.machine import Machine
from bench.result import Result

WIDTH = 100
"""Columns of prose; tables are as wide as they need."""

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "benchmarks.md"

_TAKEN = Path(__file__).parent / "figures" / "taken.txt"
"""How figures are taken that are no part of the usual run, for the page."""

_INTRO = """\
# Benchmarks

Written by `python -m bench --write`; do not edit it by hand. `python -m bench --list` names the
benchmarks, `python -m bench NAME` runs some of them. Nothing here is a test: no build fails by a
clock. A figure with a baseline was taken in the same run as its baseline, in turns where both are
work of the same kind, so that the ratio says something on another machine as well; a figure
without one says something about this machine alone.
"""

_NOT_MEASURED = """\
## What was not measured

- Anything over a network, a disk of a cluster, or an object store: broker, overlord and worker
  share one machine, its cores and its disk, and compete with each other for them.
- More than one worker, replicas, more than two tasks that read at once, topics of many partitions.
- Work that pauses cancelled, as a share of the rows read.
- The memory of an overlord with 100 supervisors, and what one more task adds to its worker.
- Passes that have something to do, passes of many supervisors side by side, and the HTTP part of
  status and publish.
- A taskDuration of 60 s: the one measured is 20 s, the excess over it is what carries over.
- Druid: figures that name it in the design come from its own runs, not from this one.
"""


@dataclass(frozen=True)
class Measured:
    """A result with the machine's load when its benchmark began and ended."""

    result: Result
    load: tuple[float, float]


def line(measured: Measured) -> str:
    """Write one result for a terminal."""
    result = measured.result
    parts = [f"{result.name}: {number(result.value)} {result.unit}"]
    if result.baseline is not None and result.ratio is not None:
        parts.append(f"baseline {number(result.baseline)}, ratio {result.ratio:.2f}")
    parts.append(_judged(result))
    parts.append(f"load {measured.load[0]:.1f} to {measured.load[1]:.1f}")
    return "; ".join(part for part in parts if part) + "".join(f"\n    {n}" for n in result.notes)


def page(machine: Machine, measured: Sequence[Measured]) -> str:
    """Write the page of the reference."""
    rows = [
        f"| [{m.result.name}](#{m.result.name}) | {number(m.result.value)} {m.result.unit} "
        f"| {_or_dash(m.result.baseline)} | {_ratio(m.result)} | {_budget(m.result)} "
        f"| {_met(m.result)} |"
        for m in measured
    ]
    table = [
        "| figure | measured | baseline | ratio | budget | within |",
        "|---|---|---|---|---|---|",
        *rows,
    ]
    sections = [_section(m) for m in measured]
    taken = _TAKEN.read_text()
    parts = [_INTRO, _facts(machine, measured), *table, "", *sections, taken, _NOT_MEASURED]
    return "\n".join(parts)


def number(value: float) -> str:
    """Write a figure with three digits that mean something."""
    if value != value:  # noqa: PLR0124 -- NaN, the only one that is not itself
        return "not measured"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def _facts(machine: Machine, measured: Sequence[Measured]) -> str:
    loads = [load for m in measured for load in m.load]
    versions = ", ".join(f"{name} {version}" for name, version in machine.versions.items())
    return (
        "## This run\n\n"
        f"- {machine.measured_at:%Y-%m-%d %H:%M} UTC, commit {machine.commit}\n"
        f"- {machine.cores} cores, {machine.memory_bytes / 2**30:.0f} GiB of memory, "
        f"{machine.system}\n"
        f"- {versions}\n"
        f"- load average over a minute: {min(loads):.1f} to {max(loads):.1f} during the run; the\n"
        f"  benchmarks themselves keep about {machine.cores} busy, what is more came from others\n"
    )


def _section(measured: Measured) -> str:
    result = measured.result
    notes = "".join(_wrapped(f"- {note}", "  ") + "\n" for note in result.notes)
    load = f"- load average before and after: {measured.load[0]:.1f}, {measured.load[1]:.1f}\n"
    how = result.how[0].upper() + result.how[1:]
    return f"## {result.name}\n\n{_wrapped(f'{how}.')}\n\n{notes}{load}"


def _wrapped(text: str, indent: str = "") -> str:
    return textwrap.fill(text, WIDTH, subsequent_indent=indent, break_long_words=False)


def _judged(result: Result) -> str:
    return f"budget {_budget(result)}: {_met(result)}" if result.budget else ""


def _budget(result: Result) -> str:
    if result.budget is None:
        return "-"
    sign = "≥" if result.budget.at_least else "≤"
    unit = " x baseline" if result.budget.of_ratio else f" {result.unit}"
    return f"{sign} {number(result.budget.limit)}{unit}"


def _met(result: Result) -> str:
    return {True: "yes", False: "no", None: "-"}[result.within]


def _ratio(result: Result) -> str:
    return "-" if result.ratio is None else f"{result.ratio:.2f}"


def _or_dash(value: float | None) -> str:
    return "-" if value is None else number(value)
