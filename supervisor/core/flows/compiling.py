"""A flow's document becomes the plan that its executions carry."""

from supervisor.core.executions.plan import (
    ApproveWork,
    BatchWork,
    CallWork,
    Concurrency,
    EachWork,
    FailWork,
    FlowPlan,
    OnLost,
    ParallelWork,
    RetryRule,
    SetWork,
    SleepWork,
    Step,
    SubflowWork,
    SwitchWork,
    Work,
)
from supervisor.core.flows.document import ConcurrencyDocument, FlowDocument
from supervisor.core.flows.steps import (
    ApproveStep,
    CallFields,
    FailStep,
    ForEachStep,
    HttpStep,
    NoopStep,
    ParallelStep,
    RetryDocument,
    SetStep,
    SleepStep,
    StepDocument,
    SubflowStep,
    SwitchStep,
    VerbFields,
)


def compile_flow(flow: FlowDocument, version: int) -> FlowPlan:
    """Return the plan of a flow's version."""
    return FlowPlan(
        flow=flow.flow,
        version=version,
        steps=_graph(flow.steps),
        on_failure=_graph(flow.on_failure),
        always=_graph(flow.finally_),
        outputs=flow.outputs,
        timeout=flow.timeout,
        warn_after=flow.warn_after,
        kill_grace=flow.kill_grace,
        concurrency=_concurrency(flow.concurrency),
    )


def _concurrency(rule: ConcurrencyDocument | None) -> Concurrency | None:
    return None if rule is None else Concurrency(rule.limit, rule.key, rule.when_full)


def _graph(steps: tuple[StepDocument, ...]) -> tuple[Step, ...]:
    return tuple(_step(step) for step in steps)


def _step(step: StepDocument) -> Step:
    retry, timeout, queue_timeout, on_lost = None, None, None, OnLost.RETRY
    match step:
        case CallFields():
            retry, timeout, queue_timeout = step.retry, step.timeout, step.queue_timeout
            on_lost = _on_lost(step)
        case SubflowStep():
            retry, timeout = step.retry, step.timeout
        case ApproveStep():
            timeout = step.timeout
        case _:
            pass
    return Step(
        name=step.name,
        work=_work(step),
        after=step.after,
        condition=step.if_,
        retry=_retry(retry),
        timeout=timeout,
        queue_timeout=queue_timeout,
        on_error=step.on_error,
        on_lost=on_lost,
    )


def _each(step: ForEachStep) -> EachWork:
    steps = _graph(step.steps)
    if step.batch is not None:
        steps = (Step(f"{step.name}.batch", BatchWork(steps)),)
    return EachWork(step.items, steps, step.concurrency, step.batch)


def _retry(rule: RetryDocument | None) -> RetryRule:
    if rule is None:
        return RetryRule()
    return RetryRule(rule.attempts, rule.backoff, rule.max, frozenset(rule.errors))


def _on_lost(step: CallFields) -> OnLost:
    """Return what follows a loss: a call of somebody else's server asks before it is repeated."""
    if step.on_lost is not None:
        return step.on_lost
    repeats = not isinstance(step, HttpStep) or step.idempotent or step.method == "GET"
    return OnLost.RETRY if repeats else OnLost.ASK


def _work(step: StepDocument) -> Work:
    match step:
        case NoopStep():
            return CallWork("noop")
        case HttpStep():
            fields = ("method", "url", "headers", "body")
            return CallWork("http", {name: getattr(step, name) for name in fields})
        case VerbFields():
            return CallWork(step.type, step.arguments())
        case SetStep():
            return SetWork(step.values)
        case FailStep():
            return FailWork(step.message)
        case SleepStep():
            seconds = None if step.duration is None else step.duration.total_seconds()
            return SleepWork(step.seconds if seconds is None else seconds)
        case ApproveStep():
            return ApproveWork(step.question)
        case SubflowStep():
            return SubflowWork(step.flow, step.inputs)
        case ParallelStep():
            return ParallelWork(_graph(step.steps))
        case SwitchStep():
            cases = {case: _graph(steps) for case, steps in step.cases.items()}
            return SwitchWork(step.value, cases, _graph(step.default))
        case ForEachStep():
            return _each(step)
