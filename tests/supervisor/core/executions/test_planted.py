"""Is what `test_any_order` checks enough?  Faults are planted, and each has to be found."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from supervisor.core.executions import failing, joining, progress, requests
from supervisor.core.executions.draft import ExecutionDraft
from supervisor.core.executions.entities import RunAttempt, StepScope, TaskRun
from supervisor.core.executions.inputs import Claim, SlotFreed
from supervisor.core.executions.reduced import ClaimReply, Drop, SendGate
from supervisor.core.executions.states import StepState
from tests.supervisor.core.executions.test_any_order import Life

_SEEDS_MAX = 200

Plant = Callable[[pytest.MonkeyPatch], None]


def _grant_to_everybody(patch: pytest.MonkeyPatch) -> None:
    whole = joining.claim

    def claim(draft: ExecutionDraft, asked: Claim) -> Drop | None:
        drop = whole(draft, asked)
        if drop is Drop.CLAIMED:
            draft.messages.append(ClaimReply(asked.run, asked.attempt, asked.runner, granted=True))
        return drop

    patch.setattr(joining, "claim", claim)


def _effect_of_the_attempt(patch: pytest.MonkeyPatch) -> None:
    def next_effect(attempt: RunAttempt | None) -> int:
        return 1 if attempt is None else attempt.number + 1

    patch.setattr("supervisor.core.executions.beginning.next_effect", next_effect)


def _effect_without_a_number(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("supervisor.core.executions.beginning.next_effect", lambda _: 1)


def _begin_before_what_is_before(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(progress, "_is_done", lambda *_: True)


def _join_old_attempts(patch: pytest.MonkeyPatch) -> None:
    whole = joining._addressed

    def addressed(
        draft: ExecutionDraft, run_id: str, attempt: int
    ) -> tuple[TaskRun | None, Drop | None]:
        run, drop = whole(draft, run_id, attempt)
        return run, None if drop is Drop.OLD_ATTEMPT else drop

    patch.setattr(joining, "_addressed", addressed)


def _keep_the_slot_of_who_is_killed(patch: pytest.MonkeyPatch) -> None:
    whole = progress.end

    def end(draft: ExecutionDraft) -> None:
        whole(draft)
        if draft.execution.killed:
            draft.messages[:] = [
                one
                for one in draft.messages
                if not (isinstance(one, SendGate) and isinstance(one.input, SlotFreed))
            ]

    patch.setattr(progress, "end", end)
    patch.setattr(requests, "end", end)


def _end_before_what_runs(patch: pytest.MonkeyPatch) -> None:
    def is_over(draft: ExecutionDraft, scope: StepScope, steps: object) -> bool:
        del steps
        return progress._is_cut(draft, scope)

    patch.setattr(progress, "_is_over", is_over)


def _wait_for_a_person_after_a_kill(patch: pytest.MonkeyPatch) -> None:
    def stop_open(draft: ExecutionDraft, *, at_once: bool = False) -> None:
        del at_once
        for run in draft.runs():
            if run.state is StepState.SUBMITTED:
                draft.put(replace(run, state=StepState.KILLED))

    patch.setattr(requests, "stop_open", stop_open)


def _lose_a_failure_in_a_group(patch: pytest.MonkeyPatch) -> None:
    def lose_scope(draft: ExecutionDraft, scope: StepScope) -> None:
        if not scope.parent:
            draft.execution = replace(draft.execution, loses=True)

    patch.setattr(failing, "lose_scope", lose_scope)


_PLANTS = [
    _grant_to_everybody,
    _effect_of_the_attempt,
    _effect_without_a_number,
    _begin_before_what_is_before,
    _join_old_attempts,
    _keep_the_slot_of_who_is_killed,
    _end_before_what_runs,
    _wait_for_a_person_after_a_kill,
    _lose_a_failure_in_a_group,
]


@pytest.mark.parametrize("plant", _PLANTS, ids=lambda plant: plant.__name__.strip("_"))
def test_a_planted_fault_is_found(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    for seed in range(_SEEDS_MAX):
        try:
            Life(seed).live()
        except Exception:  # noqa: BLE001 -- whatever speaks has found it
            return
    pytest.fail(f"not found in {_SEEDS_MAX} seeds")
