"""What follows: steps that may begin, steps around others that end, and the execution's end."""

from dataclasses import replace

from pydantic import JsonValue

from supervisor.core.executions.beginning import begin_step
from supervisor.core.executions.draft import ExecutionDraft
from supervisor.core.executions.entities import (
    Execution,
    Phase,
    RunFailure,
    StepError,
    StepScope,
    TaskRun,
)
from supervisor.core.executions.expressions import ExpressionFailed, resolve
from supervisor.core.executions.failing import lose_scope, note_failure
from supervisor.core.executions.inputs import ChildEnded, SlotFreed
from supervisor.core.executions.plan import EachWork, OnError, Step
from supervisor.core.executions.reduced import Send, SendGate
from supervisor.core.executions.scopes import graph_of, scopes_above, variables_of
from supervisor.core.executions.states import ExecutionState, StepState


def settle(draft: ExecutionDraft) -> None:
    """Look at each scope in which something has changed, until nothing follows any more."""
    while draft.scopes and not draft.execution.state.ended:
        _look(draft, draft.scopes.popleft())


def may_begin(draft: ExecutionDraft, scope: StepScope) -> bool:
    """Whether a step or an attempt in a scope may begin now."""
    going = draft.execution.state is ExecutionState.RUNNING or _tidies_up(draft)
    return going and not _is_cut(draft, scope)


def _tidies_up(draft: ExecutionDraft) -> bool:
    """Whether the `finally` steps of an execution that is being killed are under way."""
    state, phase = draft.execution.state, draft.execution.phase
    return state is ExecutionState.KILLING and phase is Phase.ALWAYS


def _is_cut(draft: ExecutionDraft, scope: StepScope) -> bool:
    """Whether no further step of a scope will ever begin."""
    execution = draft.execution
    if scope.phase is not execution.phase or execution.loses:
        return True
    if execution.killed and execution.phase is not Phase.ALWAYS:
        return True
    parents = (draft.run(one.parent) for one in scopes_above(draft, scope))
    return any(parent is not None and (parent.loses or parent.state.ended) for parent in parents)


def _look(draft: ExecutionDraft, scope: StepScope) -> None:
    parent = draft.run(scope.parent)
    if parent is not None and parent.state.ended:
        return
    if parent is not None and parent.items is not None and scope.item is None:
        _look_at_items(draft, scope, parent)
        return
    steps = graph_of(draft, scope)
    if may_begin(draft, scope):
        for step in steps:
            if _is_ready(draft, scope, step) and may_begin(draft, scope):
                begin_step(draft, scope, step)
    if _is_over(draft, scope, steps):
        _close(draft, scope, whole=_has_all(draft, scope, steps))


def _run_of(draft: ExecutionDraft, scope: StepScope, step: Step) -> TaskRun | None:
    return draft.run(scope.run_id(draft.execution.id, step))


def _is_ready(draft: ExecutionDraft, scope: StepScope, step: Step) -> bool:
    """Whether a step has not begun, and all that it comes after is done."""
    if _run_of(draft, scope, step) is not None:
        return False
    before = {one.name: one for one in graph_of(draft, scope) if one.name in step.after}
    return all(_is_done(draft, scope, before[name]) for name in step.after)


def _is_done(draft: ExecutionDraft, scope: StepScope, step: Step) -> bool:
    run = _run_of(draft, scope, step)
    if run is None:
        return False
    overlooked = run.state is StepState.FAILED and step.on_error is OnError.CONTINUE
    return overlooked or run.state in {StepState.SUCCESS, StepState.SKIPPED}


def _has_all(draft: ExecutionDraft, scope: StepScope, steps: tuple[Step, ...]) -> bool:
    return all(_run_of(draft, scope, step) is not None for step in steps)


def _is_over(draft: ExecutionDraft, scope: StepScope, steps: tuple[Step, ...]) -> bool:
    runs = [_run_of(draft, scope, step) for step in steps]
    if any(run is not None and not run.state.ended for run in runs):
        return False
    return None not in runs or _is_cut(draft, scope)


def _close(draft: ExecutionDraft, scope: StepScope, *, whole: bool) -> None:
    """Go on around a scope that is over.  `whole`: all of its steps have begun."""
    parent = draft.run(scope.parent)  # as the steps that began last have left it
    if parent is None:
        if scope.phase is draft.execution.phase:
            _end_phase(draft)
    elif parent.items is None:
        _end_container(draft, parent, whole=whole)
    elif scope.item in parent.open:
        draft.put(replace(parent, open=parent.open - {scope.item}))
        draft.scopes.append(StepScope(scope.phase, parent.id))


def _look_at_items(draft: ExecutionDraft, scope: StepScope, each: TaskRun) -> None:
    """Begin further items of a `forEach`, or end it."""
    work, items = draft.step_of(each).work, each.items or ()
    if not isinstance(work, EachWork):
        raise TypeError(f"{each.step} has items, and is no forEach")
    while may_begin(draft, scope) and each.begun < len(items) and len(each.open) < work.concurrency:
        number = each.begun
        each = draft.put(replace(each, begun=number + 1, open=each.open | {number}))
        draft.scopes.append(StepScope(scope.phase, each.id, number))
    whole = each.begun == len(items)
    if not each.open and (whole or _is_cut(draft, scope)):
        _end_container(draft, each, whole=whole)


def _end_container(draft: ExecutionDraft, run: TaskRun, *, whole: bool) -> None:
    if run.loses:
        error = StepError("inside", f"a step inside {run.step} has failed")
        draft.put(replace(run, state=StepState.FAILED, error=error))
        if draft.step_of(run).on_error is not OnError.CONTINUE:
            lose_scope(draft, run.scope)
    elif whole:
        draft.put(replace(run, state=StepState.SUCCESS, outputs=_outputs(draft, run)))
    else:
        draft.put(replace(run, state=StepState.KILLED))


def _outputs(draft: ExecutionDraft, run: TaskRun) -> dict[str, JsonValue]:
    """Return what a step around others gives: a `forEach` the number of its items."""
    work = draft.step_of(run).work
    if run.items is None or not isinstance(work, EachWork):
        return {}
    if work.batch is None:
        return {"count": len(run.items)}
    return {"count": sum(len(batch) for batch in run.items if isinstance(batch, list))}


def _end_phase(draft: ExecutionDraft) -> None:
    """Begin the next graph of the plan, or end the execution."""
    execution = draft.execution
    failed = execution.failed or execution.loses
    following = _phase_after(execution, failed=failed)
    if following is None:
        draft.execution = replace(execution, failed=failed, loses=False)
        end(draft)
    else:
        draft.execution = replace(execution, phase=following, failed=failed, loses=False)
        draft.scopes.append(StepScope(following))


def _phase_after(execution: Execution, *, failed: bool) -> Phase | None:
    plan = execution.plan
    if execution.phase is Phase.STEPS and failed and plan.on_failure and not execution.killed:
        return Phase.ON_FAILURE
    if execution.phase is not Phase.ALWAYS and plan.always:
        return Phase.ALWAYS
    return None


def end(draft: ExecutionDraft) -> None:
    """End an execution of which nothing is open, and say so to all who wait for it."""
    state = _end_state(draft)
    draft.move(state)
    draft.execution = replace(draft.execution, ended_at=draft.now, due_at=None)
    execution = draft.execution
    failures: list[JsonValue] = [
        {"step": one.step, "code": one.error.code, "message": one.error.message}
        for one in execution.failures
    ]
    draft.write_event("execution-ended", state=state, failures=failures)
    if execution.gate is not None:
        draft.messages.append(SendGate(execution.gate, SlotFreed(execution.id)))
    if execution.parent is not None:
        parent, run, attempt = execution.parent.split("/")
        why = execution.failures[0].error.message if execution.failures else ""
        # A kill that came before it began has no failure: that one is `child-killed`.
        refused = execution.began_at is None and bool(execution.failures)
        ended = ChildEnded(
            run, int(attempt), state, outputs=execution.outputs, why=why, refused=refused
        )
        draft.messages.append(Send(parent, ended))


def _end_state(draft: ExecutionDraft) -> ExecutionState:
    if draft.execution.killed:
        return ExecutionState.KILLED
    if draft.execution.failed:
        return ExecutionState.FAILED
    try:
        values = dict(draft.execution.plan.outputs)
        outputs = resolve(values, variables_of(draft, StepScope()), draft.language)
    except ExpressionFailed as error:
        failure = StepError("outputs", str(error))
        note_failure(draft, RunFailure("", "", failure, draft.now))
        return ExecutionState.FAILED
    if isinstance(outputs, dict):
        draft.execution = replace(draft.execution, outputs=outputs)
    return ExecutionState.SUCCESS
