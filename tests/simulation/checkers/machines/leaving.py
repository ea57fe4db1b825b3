"""P2: who leaves in order releases the lease, nobody else's; nobody writes under a released one."""

from collections.abc import Iterator

from tests.simulation.checkers.ledger import Ledger, Watched

_LEASE = "SELECT term, holder FROM leader_term"


def leases_are_released_by_who_leaves(ledger: Ledger, world: Watched) -> Iterator[str]:
    """Follow who was asked to end, who has ended, and what was committed under whose lease."""
    memory = ledger.machines
    row = world.store_connection.execute(_LEASE).fetchone()
    holder = None if row is None else str(row[1])
    for line in world.log[memory.heard_leaving :]:
        detail = line.detail
        match line.kind:
            case "leaves":
                memory.leaving.add(str(detail["holder"]))
            case "left":
                if detail["answered"] and holder == detail["holder"]:
                    yield f"P2 {holder} has left, and still holds the lease"
            case "commit" if "holder" in detail:
                who = f"{detail['overlord']}#{detail['life']}"
                if detail["holder"] != who:
                    kept = detail["holder"] or "nobody"
                    yield f"P1 {who} committed while {kept} holds the lease"
            case _:
                pass
    memory.heard_leaving = len(world.log)
    if holder == "" and memory.holder and memory.holder not in memory.leaving:
        yield f"P2 the lease of {memory.holder} was released, and it goes on"
    memory.holder = holder or ""
