"""Seeds that failed once: they run first, always.  `corpus.txt` holds them, one a line.

seed  date  name of the regression test  what was wrong
"""

from dataclasses import dataclass
from datetime import date
from pathlib import Path

FILE = Path(__file__).with_name("corpus.txt")
_FIELDS = 4


@dataclass(frozen=True)
class Entry:
    """One seed and the story behind it."""

    seed: int
    found: date
    test: str
    """File and name of its regression test, also of a fault that was the simulation's own."""
    what: str


def entries() -> list[Entry]:
    """Return every seed of the corpus, in the order of the file.

    Raises:
        ValueError: a line has another form.
    """
    parsed = []
    for number, line in enumerate(FILE.read_text().splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        words = line.split(maxsplit=_FIELDS - 1)
        if len(words) != _FIELDS:
            raise ValueError(f"{FILE.name}:{number} has not the form: seed date test what")
        parsed.append(Entry(int(words[0]), date.fromisoformat(words[1]), words[2], words[3]))
    return parsed


def seeds() -> list[int]:
    """Return the seeds alone, each once."""
    return list(dict.fromkeys(entry.seed for entry in entries()))


def before(drawn: range) -> list[int]:
    """Return the seeds of the corpus, then the drawn ones, each once."""
    return list(dict.fromkeys([*seeds(), *drawn]))
