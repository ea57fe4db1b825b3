"""What fewer runs have: parameters and stories drawn from a stream of their own.

The draws of `faults.draw` stay as they were when something is added here, at its end.
"""

from dataclasses import dataclass, replace
from random import Random

STORIES = (
    "journal full",
    "disk full for long",
    "job slow",
    "worker gone for long",
    "retention while suspended",
    "reset while a task publishes",
    "publish request late",
    "suspend and resume",
    "terminate and post again",
    "one of two topics gone",
    "batches fail",
    "replicas diverge",
)
"""Each happens once, early; several steps of it belong together."""
ROWS = {
    "A3": ("before:FixEnd", "before FixEnd"),
    "A4": ("after:FixEnd", "after FixEnd"),
    "A5": ("sync:told-end",),
    "A7": ("in:FixEnd",),
    "A10": ("publish:judged", "publish:in-transaction"),
    "A11": ("publish:committed",),
    "A12": ("publish:answered", "publish:answer"),
    "A15": (
        *(f"suspend:{when}" for when in ("in-transaction", "committed")),
        *(f"terminate:{when}" for when in ("in-transaction", "committed")),
    ),
    "B6": ("worker:before:Publish",),
    "B7": ("worker:after:Publish",),
}
"""Rarest rows of the failure tables -> how the names of their crash points end."""
AIM_RATE, AIMS = 0.5, 2
"""How likely a crash at such a point is, and how many of them a run has."""
ASKS = ("how it is", "what cannot be")
"""What a user asks again and again, which changes nothing."""
_VERBS = ("suspend and resume", "terminate and post again")
_FAILING_SHARE, _CLEANING_SHARE, _BOUNDED_SHARE = 0.12, 0.25, 0.3
_ASKING_SHARE, _DIVERGING_SHARE, _SKEWED_SHARE = 0.3, 0.15, 1 / 12
_RESETS = {"retention while suspended", "reset while a task publishes"}
"""A reset goes back to the start of a fixed range, which Kafka may hold no more."""
SIBLING = "-eu"
"""What the name of a second topic ends with."""


@dataclass(frozen=True)
class Rare:
    """The parameters of one run, beside its `Swarm`."""

    topics: int = 1
    """Two: the spec has a topicPattern."""
    stories: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    """As `Swarm.targets`; only the first crashes there."""
    pause_target_s: float | None = None
    """The workers' operator has set it."""
    looks_beside: bool = False
    """Overlords decide on what they last saw of Kafka, as the product does, and look meanwhile."""
    completion_s: int = 1_800
    rejects: float = 0.0
    """The share of records that become no row."""
    samples_max: int = 20
    cleans: bool = False
    """Leaders delete what ended tasks have left behind."""
    hurries: bool = False
    """Once it is quiet the user asks for handoffs at once; else the timer has its turn first."""
    rows_total: int | None = None
    """The spec's maxTotalRows."""
    between_s: int | None = None
    """The spec's intermediateHandoffPeriod."""
    bounded: bool = False
    """The spec names ranges to be read once; the user raises their ends again and again."""
    look_crash: float = 0.0
    """Probability that an overlord dies at a call to Kafka."""
    asks: tuple[str, ...] = ()
    chunk_rows: int | None = None
    """The spec's maxRowsPerSegment, at first."""
    idle_ms: int | None = None
    """The spec's idleConfig: so long nothing has to come until no task runs."""
    skew_s: float = 20.0
    """So far ahead or behind the clocks of some overlords are."""


def draw_rare(random: Random) -> Rare:
    """Draw what this run has of it."""
    row = random.choice([*[None] * 6, *ROWS])
    stories = random.sample(STORIES[:7], random.choice([0, 1, 1, 2]))
    topics = random.choice([1, 1, 1, 1, 2])
    if topics > 1 and random.random() < 0.5:
        stories.append("one of two topics gone")
    if row == "A15":
        stories += _VERBS
    drawn = Rare(
        topics=topics,
        stories=tuple(stories),
        targets=() if row is None else ROWS[row],
        pause_target_s=random.choice([None, None, None, 0.6]),
        looks_beside=random.random() < 0.4,
        completion_s=20 if "disk full for long" in stories else 1_800,
        rejects=random.choice([0.0, 0.0, 0.1]),
        samples_max=random.choice([0, 2, 20]),
        hurries=random.random() < 0.75,
    )
    if random.random() < _FAILING_SHARE:
        drawn = replace(drawn, stories=(*drawn.stories, "batches fail"))
    drawn = replace(drawn, cleans=random.random() < _CLEANING_SHARE)
    rows_total = random.choice([None, None, None, None, 7, 40, 200])
    drawn = replace(drawn, rows_total=rows_total, between_s=random.choice([*[None] * 5, 3]))
    bounded = random.random() < _BOUNDED_SHARE and not _RESETS.intersection(drawn.stories)
    drawn = replace(drawn, bounded=bounded and drawn.topics == 1)
    drawn = replace(drawn, look_crash=random.choice([0.0, 0.0, 0.003, 0.02]))
    drawn = replace(drawn, asks=tuple(name for name in ASKS if random.random() < _ASKING_SHARE))
    drawn = replace(drawn, chunk_rows=random.choice([*[None] * 5, 5, 30]))
    if random.random() < _DIVERGING_SHARE:
        drawn = replace(drawn, stories=(*drawn.stories, "replicas diverge"))
    drawn = replace(drawn, idle_ms=random.choice([*[None] * 4, 500, 3_000]))
    if random.random() < _SKEWED_SHARE:
        drawn = replace(drawn, skew_s=3_600.0)
    return drawn
