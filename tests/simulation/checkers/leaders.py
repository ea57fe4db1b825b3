"""I5: every commit of a leader has the term of the lease at that moment; one leader per term."""

from collections.abc import Iterator, Mapping

from tests.simulation.checkers.database import Rows
from tests.simulation.checkers.ledger import Ledger, Watched


def commits_have_the_present_term(ledger: Ledger, now: Rows, world: Watched) -> Iterator[str]:
    """Look at what happened since the last look."""
    present = ledger.rows.term
    for happening in world.log[ledger.heard :]:
        detail = happening.detail
        match happening.kind:
            case "commit":
                who, term = str(detail["overlord"]), int(str(detail["term"]))
                if term < present:
                    yield f"I5 {who} committed under term {term}, the lease says {present}"
                if ledger.terms.setdefault(term, who) != who:
                    yield f"I5 term {term} belongs to {ledger.terms[term]} and to {who}"
                present = max(present, term)
            case "leads":
                ledger.loses_from[str(detail["overlord"])] = float(str(detail["loses_from"]))
            case "lost":
                yield from _too_soon(ledger, detail)
            case _:
                pass
    ledger.heard = len(world.log)
    if now.term < ledger.rows.term:
        yield f"I5 the term fell from {ledger.rows.term} to {now.term}"
    if present > now.term:
        yield f"I5 a commit under term {present}, the lease says {now.term}"


def _too_soon(ledger: Ledger, detail: Mapping[str, object]) -> Iterator[str]:
    """P6: who could not listen for `worker_timeout` takes no worker for lost.

    A lease that lapsed and was renewed counts as a new one: syncs were refused meanwhile.
    """
    who, worker = str(detail["overlord"]), detail["worker"]
    if not detail["leads"]:
        yield f"P6 {who} takes {worker} for lost while it may not listen"
    elif float(str(detail["at"])) < ledger.loses_from.get(who, 0.0):
        yield f"P6 {who} takes {worker} for lost before it has listened for long enough"


def plans_have_rising_terms(world: Watched) -> Iterator[str]:
    """The same from the rows alone: an older leader never stores a plan after a newer one."""
    newest = 0
    for supervisor, term in world.store_connection.execute(
        "SELECT supervisor_id, term FROM plans ORDER BY id"
    ):
        if term < newest:
            yield f"I5 a plan of {supervisor} under term {term} follows one of term {newest}"
        newest = max(newest, term)
