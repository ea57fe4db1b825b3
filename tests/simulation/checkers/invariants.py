"""What must hold in every world: the invariants I1 to I12, judged on rows, files and records.

    after_event   whenever something may have changed: cheap, reads the database after a commit
    at_end        when the quiet phase is over: everything again, and what only then can be asked

Nothing here imports the planner, the repositories or the verbs: the queries, the arithmetic of
offsets and the comparison of rows with records are the checkers' own.  A violation is a line that
begins with the invariant's name.
"""

from tests.simulation.checkers import end, offsets, rows
from tests.simulation.checkers.database import fingerprint, read_rows
from tests.simulation.checkers.digests import differences_are_reported
from tests.simulation.checkers.discards import nothing_is_given_up_without_cause
from tests.simulation.checkers.leaders import commits_have_the_present_term, plans_have_rising_terms
from tests.simulation.checkers.ledger import Watched
from tests.simulation.checkers.machines import looks
from tests.simulation.checkers.tables.looks import tables_after_event, tables_at_end
from tests.simulation.checkers.work import nothing_is_read_again_in_vain
from tests.simulation.checkers.workers import workers_keep_the_protocol


def after_event(world: Watched) -> list[str]:
    """Return what the last event broke."""
    if world.store_connection.in_transaction:
        return []  # what is not committed has not happened
    ledger = world.ledger
    mark = fingerprint(world.store_connection)
    if mark == ledger.fingerprint:
        machines = looks.at_rest(ledger, ledger.rows, world)
        files = tables_after_event(world, committed=False)
        return [*workers_keep_the_protocol(ledger, ledger.rows, world), *machines, *files]
    now = read_rows(world.store_connection, ledger.rows)
    new = {g: p for g, p in now.publications.items() if g not in ledger.rows.publications}
    violations = [
        *commits_have_the_present_term(ledger, now, world),
        *offsets.committed_offsets_move_by_publications(ledger, now, world),
        *offsets.rows_are_the_records(ledger, now, world, new),
        *nothing_is_given_up_without_cause(ledger, now, world),
        *rows.generations_move_forward(ledger, now),
        *rows.one_holder_of_each_part(now),
        *rows.ranges_are_a_chain(ledger, now),
        *rows.tasks_end_once(ledger, now),
        *rows.winners_are_successes(ledger, now),
        *rows.live_attempts_are_not_refused(ledger, now),
        *rows.nothing_vanishes(ledger, now),
        *workers_keep_the_protocol(ledger, now, world),
        *looks.after_commit(ledger, now, world, new),
        *tables_after_event(world, committed=True),
    ]
    ledger.rows, ledger.fingerprint = now, fingerprint(world.store_connection)
    return violations


def at_end(world: Watched) -> list[str]:
    """Return what does not hold at the end of a run, after its quiet phase."""
    violations = after_event(world)
    ledger, now = world.ledger, world.ledger.rows
    return [
        *violations,
        *offsets.published_ranges_tile(ledger, now),
        *offsets.rows_are_the_records(ledger, now, world, end.whole(now, world)),
        *looks.after_commit(ledger, now, world, now.publications),
        *differences_are_reported(now, world),
        *plans_have_rising_terms(world),
        *end.chains_reach_the_committed(ledger, now),
        *end.everything_is_published(now, world),
        *end.no_range_passes_its_bound(world),
        *end.no_row_is_an_orphan(world),
        *nothing_is_read_again_in_vain(world),
        *end.every_file_is_somebodys(world),
        *end.no_secret_is_stored(world),
        *tables_at_end(world),
    ]
