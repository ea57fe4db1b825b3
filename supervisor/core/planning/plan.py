"""The planner: a pure function from a snapshot to effects, each with its reason.

A pass settles tasks that have ended, advances handoffs, opens missing groups, and starts missing
replicas, in this order.  Discards come first and alone, and the next pass decides about the rest.
The planner has no memory: the next snapshot shows the results of the actions, and a pass that
crashed is simply repeated.
"""

from supervisor.core.planning.actions import Action, Plan, SlotNeed
from supervisor.core.planning.observed import Observed
from supervisor.core.planning.placement import Slots
from supervisor.core.planning.rules.bounds import is_completed
from supervisor.core.planning.rules.discards import discards
from supervisor.core.planning.rules.end_tasks import end_tasks
from supervisor.core.planning.rules.generations import GenerationSteps
from supervisor.core.planning.rules.initial_offsets import (
    commit_initial_offsets,
    reset_automatically,
)
from supervisor.core.planning.rules.starts import Starts
from supervisor.core.planning.rules.surplus_replicas import end_surplus_replicas
from supervisor.core.planning.view import PassView


def plan(seen: Observed) -> Plan:
    """Decide what brings `seen` closer to its spec.  Same `seen`, same plan."""
    view = PassView(seen)
    settled = tuple(end_tasks(view))
    settled += tuple(end_surplus_replicas(view, {action.task_id for action in settled}))
    given_up: tuple[Action, ...] = (*reset_automatically(view), *discards(view))
    if given_up:
        return Plan((*settled, *given_up), wake_at=seen.now)
    ended = {action.task_id for action in settled}
    step = GenerationSteps(view)
    moved = tuple(step.move_generations())
    opened: tuple[Action, ...] = (*commit_initial_offsets(view), *step.open_missing_groups())
    starts = Starts(view, Slots(seen.workers), ended, closing=step.closing)
    started = tuple(starts.start_missing_replicas())
    actions: tuple[Action, ...] = (*settled, *moved, *opened, *started)
    wakes = [at for at in (*step.wakes, *starts.wakes) if at > seen.now]
    if not seen.stream.known and (view.spec is not None or _hands_off(seen)):
        wakes.append(seen.now + seen.limits.stream_retry)
    at_rest = min([*wakes, seen.now + seen.limits.period])  # bounds what a lost wake-up costs
    need = SlotNeed(starts.needed, starts.free) if starts.unplaced else None
    return Plan(
        actions,
        wake_at=seen.now if actions else at_rest,
        waiting_for_slots=need,
        milestones=step.milestones,
        over=not actions and _is_over(seen),
    )


def _hands_off(seen: Observed) -> bool:
    """A suspended supervisor's last ranges need Kafka as any others do."""
    return seen.current.spec is not None and bool(seen.generations)


def _is_over(seen: Observed) -> bool:
    spec = seen.current.spec
    left = seen.generations or seen.tasks or seen.dead_queues
    return not left and (spec is None or is_completed(spec, seen.committed))
