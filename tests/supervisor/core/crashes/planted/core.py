"""Mistakes in the product's own rules: the reducer, and the gates."""

from dataclasses import replace

from supervisor.core.executions import failing, gates, joining, progress, timers
from supervisor.core.executions.draft import ExecutionDraft
from supervisor.core.executions.entities import Execution, Phase, RunAttempt, StepScope, TaskRun
from supervisor.core.executions.gates import Gate
from supervisor.core.executions.inputs import Claim, SlotFreed
from supervisor.core.executions.plan import Step
from supervisor.core.executions.reduced import ClaimReply, Drop, Message, Reduced, SendGate
from supervisor.core.executions.states import AttemptState, StepState
from tests.simulation.planted.patches import Function, Mutant, Patches


def _grant_to_everybody(patches: Patches) -> None:
    def make(whole: Function) -> Function:
        def claim(draft: ExecutionDraft, asked: Claim) -> Drop | None:
            drop: Drop | None = whole(draft, asked)
            if drop is Drop.CLAIMED:
                draft.messages.append(
                    ClaimReply(asked.run, asked.attempt, asked.runner, granted=True)
                )
            return drop

        return claim

    patches.function(joining, "claim", make)


def _old_attempts_join(patches: Patches) -> None:
    def make(whole: Function) -> Function:
        def addressed(draft: ExecutionDraft, run_id: str, attempt: int) -> object:
            run, drop = whole(draft, run_id, attempt)
            return run, None if drop is Drop.OLD_ATTEMPT else drop

        return addressed

    patches.function(joining, "_addressed", make)


def _ends_join_again(patches: Patches) -> None:
    def make(whole: Function) -> Function:
        def addressed(draft: ExecutionDraft, run_id: str, attempt: int) -> object:
            run, drop = whole(draft, run_id, attempt)
            again = drop is Drop.AFTER_TERMINAL and not run.state.ended
            return run, None if again else drop

        return addressed

    patches.function(joining, "_addressed", make)


def _key_of_the_attempt(patches: Patches) -> None:
    def next_effect(attempt: RunAttempt | None) -> int:
        return 1 if attempt is None else attempt.number + 1

    patches.function(failing, "next_effect", lambda _: next_effect)


def _key_without_its_number(patches: Patches) -> None:
    patches.function(failing, "next_effect", lambda _: lambda attempt: 1)  # noqa: ARG005


def _queue_timeout_is_known(patches: Patches) -> None:
    def make(whole: Function) -> Function:
        def next_effect(attempt: RunAttempt | None) -> int:
            number: int = whole(attempt)
            if attempt is not None and attempt.error is not None:
                return number + int(attempt.error.code == "queue-timeout")
            return number

        return next_effect

    patches.function(failing, "next_effect", make)


def _lost_fails_are_tried_again(patches: Patches) -> None:
    def make(_: Function) -> Function:
        def lose_attempt(draft: ExecutionDraft, run: TaskRun, runner: str) -> None:
            del runner
            run = failing.end_attempt(draft, run, AttemptState.LOST)
            draft.put(replace(run, state=StepState.RETRYING, retry_at=draft.now))

        return lose_attempt

    patches.function(failing, "lose_attempt", make)


def _nothing_comes_after(patches: Patches) -> None:
    patches.function(progress, "_is_done", lambda _: lambda *given: True)  # noqa: ARG005


def _slot_kept_by_who_is_killed(patches: Patches) -> None:
    def make(whole: Function) -> Function:
        def end(draft: ExecutionDraft) -> None:
            whole(draft)
            if draft.execution.killed:
                draft.messages[:] = [
                    one
                    for one in draft.messages
                    if not (isinstance(one, SendGate) and isinstance(one.input, SlotFreed))
                ]

        return end

    patches.function(progress, "end", make)


def _gate_forgets_its_holders(patches: Patches) -> None:
    def make(whole: Function) -> Function:
        def given(gate: Gate, messages: tuple[Message, ...] = ()) -> Reduced[Gate]:
            return whole(replace(gate, holders=frozenset()), messages)  # type: ignore[no-any-return]

        return given

    patches.function(gates, "_given", make)


def _finally_twice(patches: Patches) -> None:
    def make(whole: Function) -> Function:
        def after(execution: Execution, *, failed: bool) -> Phase | None:
            phase: Phase | None = whole(execution, failed=failed)
            again = execution.phase is Phase.ALWAYS and not execution.failed and failed
            return Phase.ALWAYS if again else phase

        return after

    patches.function(progress, "_phase_after", make)


def _no_finally_after_a_kill(patches: Patches) -> None:
    def make(whole: Function) -> Function:
        def after(execution: Execution, *, failed: bool) -> Phase | None:
            return None if execution.killed else whole(execution, failed=failed)

        return after

    patches.function(progress, "_phase_after", make)


def _end_before_what_runs(patches: Patches) -> None:
    def make(_: Function) -> Function:
        def is_over(draft: ExecutionDraft, scope: StepScope, steps: tuple[Step, ...]) -> bool:
            runs = [progress._run_of(draft, scope, step) for step in steps]
            return progress._is_cut(draft, scope) or all(run and run.state.ended for run in runs)

        return is_over

    patches.function(progress, "_is_over", make)


def _times_come_early(patches: Patches) -> None:
    def make(whole: Function) -> Function:
        def do_due(draft: ExecutionDraft, run: TaskRun) -> None:
            if run.wait is not None and run.wait.kind == "time":
                draft.put(replace(run, state=StepState.SUCCESS))
            else:
                whole(draft, run)

        return do_due

    patches.function(timers, "_do_due", make)


def _changed_runs_are_not_named(patches: Patches) -> None:
    def make(whole: Function) -> Function:
        def finish(draft: ExecutionDraft) -> object:
            reduced = whole(draft)
            first = frozenset(sorted(reduced.changed)[:1])
            return replace(reduced, changed=first)

        return finish

    patches.method(ExecutionDraft, "finish", make)


MUTANTS = (
    Mutant(
        "grant-to-everybody", "X3", "a claim is granted that another holds", _grant_to_everybody
    ),
    Mutant("old-attempts-join", "X6", "a result of an older attempt joins", _old_attempts_join),
    Mutant("ends-join-again", "X6", "a result joins an attempt that has ended", _ends_join_again),
    Mutant(
        "key-of-the-attempt", "X3", "a lost attempt's effect gets a new key", _key_of_the_attempt
    ),
    Mutant(
        "key-without-its-number",
        "X6",
        "a failure that is known is answered again for ever",
        _key_without_its_number,
    ),
    Mutant(
        "queue-timeout-is-known",
        "X6",
        "a queue timeout after a loss begins a new effect",
        _queue_timeout_is_known,
    ),
    Mutant(
        "lost-fails-are-tried-again",
        "X3",
        "`onLost: fail` is overlooked",
        _lost_fails_are_tried_again,
    ),
    Mutant("nothing-comes-after", "X8", "a step does not wait for others", _nothing_comes_after),
    Mutant("slot-kept-by-who-is-killed", "X7", "a kill frees no slot", _slot_kept_by_who_is_killed),
    Mutant(
        "gate-forgets-its-holders",
        "X7",
        "a gate counts what is new alone",
        _gate_forgets_its_holders,
    ),
    Mutant("finally-twice", "X8", "`finally` begins again when it has failed", _finally_twice),
    Mutant(
        "no-finally-after-a-kill", "X9", "a kill takes `finally` away", _no_finally_after_a_kill
    ),
    Mutant("end-before-what-runs", "X8", "a failure ends what still runs", _end_before_what_runs),
    Mutant("times-come-early", "X12", "a sleep ends with any other time", _times_come_early),
    Mutant(
        "changed-runs-are-not-named",
        "X1",
        "one task run is stored of several that changed",
        _changed_runs_are_not_named,
    ),
)
