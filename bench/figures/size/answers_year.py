"""Answers to people that read history, over a year's metadata database."""

from bench.result import Result
from bench.world import World

NAME = "answers-year"


def run(world: World) -> Result:
    """Take the slowest answer; each is in the notes, the slowest first."""
    answers = world.year.answers_ms
    slowest_first = sorted(answers, key=lambda each: -answers[each][0].middle)
    slowest = slowest_first[0]
    year, empty = answers[slowest]
    return Result(
        NAME,
        year.middle,
        "ms",
        baseline=empty.middle,
        how=(
            f"the slowest answer of {len(answers)} ({slowest}) over the database of `sync-year`, "
            "through its route without its socket, median; baseline: no history, by turns"
        ),
        notes=tuple(
            f"{question}: {answers[question][0].told('ms', 1)}; without history "
            f"{answers[question][1].middle:.1f}"
            for question in slowest_first
        ),
    )
