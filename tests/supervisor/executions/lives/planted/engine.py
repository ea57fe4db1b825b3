"""Mistakes in the engine over a database: its store, its runner, its duties, its gates."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from sqlalchemy import insert, select

from supervisor.adapters.executions.runs import text_of
from supervisor.adapters.executions.schema import EXECUTIONS, GATES
from supervisor.adapters.executions.store import SqlExecutionRows, SqlExecutions
from supervisor.chores.flows.executions import ExecutionTimes
from supervisor.core.executions import gates, progress, requests
from supervisor.core.executions.draft import ExecutionDraft
from supervisor.core.executions.entities import Execution, StepScope
from supervisor.core.executions.gates import Gate
from supervisor.core.executions.inputs import ChildEnded, KillIt, SlotWanted
from supervisor.core.executions.plan import WhenFull
from supervisor.core.executions.records import gate_record
from supervisor.core.executions.reduced import Message, Reduced, Send
from supervisor.core.executions.states import ExecutionState
from supervisor.executions.engine import StoredEngine
from supervisor.executions.runner import CallRunner
from tests.simulation.planted.patches import Function, Mutant, Patches


def _no_fence(patches: Patches) -> None:
    def make(_: Function) -> Function:
        @contextmanager
        def working(store: SqlExecutions, term: int) -> Iterator[SqlExecutionRows]:
            del term
            with store._database.writing() as connection:
                rows = SqlExecutionRows(connection, store._known)
                yield rows
            store._known.put(rows.seen.values())

        return working

    patches.method(SqlExecutions, "working", make)


def _memory_is_believed(patches: Patches) -> None:
    def make(whole: Function) -> Function:
        def execution(rows: SqlExecutionRows, name: str) -> Execution | None:
            known = rows.known.get(name)
            there = select(EXECUTIONS.c.id).where(EXECUTIONS.c.id == name)
            if known is not None and rows.connection.execute(there).scalar() is not None:
                return rows.seen.get(name, known)
            return whole(rows, name)  # type: ignore[no-any-return]

        return execution

    patches.method(SqlExecutionRows, "execution", make)


def _claims_are_not_stored(patches: Patches) -> None:
    patches.method(SqlExecutionRows, "_put_claims", lambda _: lambda *given: None)  # noqa: ARG005


def _gates_at_rest_stay(patches: Patches) -> None:
    def make(whole: Function) -> Function:
        def put(rows: SqlExecutionRows, some: list[Gate]) -> None:
            whole(rows, some)
            for gate in some:
                if gate.at_rest:
                    held = replace(gate, queue=("nobody",))
                    row = {"name": gate.name, "body": text_of(gate_record(held))}
                    rows.connection.execute(insert(GATES), row)

        return put

    patches.method(SqlExecutionRows, "_put_gates", make)


def _runners_of_one_name_are_one(patches: Patches) -> None:
    def make(_: Function) -> Function:
        def run_once(duty: ExecutionTimes) -> None:
            if duty.engine is None or duty.own is None:
                return
            for runner in duty.engine.holders():
                if runner.name != duty.own.name:
                    duty.engine.lose(runner)
            duty.engine.tick()

        return run_once

    patches.method(ExecutionTimes, "run_once", make)


def _nobody_is_lost(patches: Patches) -> None:
    patches.method(StoredEngine, "lose", lambda _: lambda *given: 0)  # noqa: ARG005


def _times_do_not_come(patches: Patches) -> None:
    patches.method(StoredEngine, "tick", lambda _: lambda engine: 0)  # noqa: ARG005


def _reports_are_dropped_before_the_answer(patches: Patches) -> None:
    def make(whole: Function) -> Function:
        def round_trip(runner: CallRunner) -> bool:
            try:
                return whole(runner)  # type: ignore[no-any-return]
            except Exception:
                runner._reports.clear()
                raise

        return round_trip

    patches.method(CallRunner, "round_trip", make)


def _a_runner_does_not_say_what_it_makes(patches: Patches) -> None:
    def make(whole: Function) -> Function:
        def serve(engine: StoredEngine, runner: object, makes: object, *given: object) -> object:
            del makes
            return whole(engine, runner, [], *given)

        return serve

    def obey(whole: Function) -> Function:
        def take(runner: CallRunner, orders: object, reported: int) -> None:
            runner._makes.clear()
            whole(runner, orders, reported)

        return take

    patches.method(StoredEngine, "serve", make)
    patches.method(CallRunner, "_obey", obey)


def _last_come_first_served(patches: Patches) -> None:
    def make(whole: Function) -> Function:
        def given(gate: Gate, messages: tuple[Message, ...] = ()) -> Reduced[Gate]:
            turned = replace(gate, queue=tuple(reversed(gate.queue)))
            return whole(turned, messages)  # type: ignore[no-any-return]

        return given

    patches.function(gates, "_given", make)


def _one_holder_too_many(patches: Patches) -> None:
    def make(whole: Function) -> Function:
        def want(gate: Gate, asked: SlotWanted) -> Reduced[Gate]:
            return whole(gate, replace(asked, limit=asked.limit + 1))  # type: ignore[no-any-return]

        return want

    patches.function(gates, "_want", make)


def _refused_where_there_is_room(patches: Patches) -> None:
    def make(whole: Function) -> Function:
        def want(gate: Gate, asked: SlotWanted) -> Reduced[Gate]:
            if asked.when_full is not WhenFull.QUEUE:
                asked = replace(asked, limit=asked.limit - 1)
            return whole(gate, asked)  # type: ignore[no-any-return]

        return want

    patches.function(gates, "_want", make)


def _full_gates_always_queue(patches: Patches) -> None:
    def make(whole: Function) -> Function:
        def refuse(draft: ExecutionDraft, asked: object) -> None:
            whole(draft, asked)
            draft.execution = replace(draft.execution, killed=not draft.execution.killed)
            if draft.execution.state is ExecutionState.FAILED:
                draft.execution = replace(draft.execution, state=ExecutionState.KILLED)

        return refuse

    patches.function(requests, "refuse", make)


def _the_end_of_a_child_is_kept_back(patches: Patches) -> None:
    def make(whole: Function) -> Function:
        def end(draft: ExecutionDraft) -> None:
            whole(draft)
            draft.messages[:] = [
                one
                for one in draft.messages
                if not (isinstance(one, Send) and isinstance(one.input, ChildEnded))
            ]

        return end

    patches.function(progress, "end", make)


def _steps_begin_in_a_pause(patches: Patches) -> None:
    def make(whole: Function) -> Function:
        def may_begin(draft: ExecutionDraft, scope: StepScope) -> bool:
            paused = draft.execution.state is ExecutionState.PAUSED
            cut = progress._is_cut(draft, scope)
            return bool(whole(draft, scope)) or (paused and not cut)

        return may_begin

    patches.function(progress, "may_begin", make)


def _kills_are_answered_and_not_done(patches: Patches) -> None:
    def make(whole: Function) -> Function:
        def kill(draft: ExecutionDraft, asked: KillIt) -> object:
            return whole(draft, asked) if asked.force else None

        return kill

    patches.function(requests, "kill", make)


MUTANTS = (
    Mutant("no-fence", "X1", "a leader that was deposed writes on", _no_fence),
    Mutant(
        "memory-is-believed",
        "X1",
        "a leader goes on with what it knew in an earlier term",
        _memory_is_believed,
    ),
    Mutant(
        "claims-are-not-stored", "X3", "a granted call is granted again", _claims_are_not_stored
    ),
    Mutant("gates-at-rest-stay", "X7", "a gate is kept that nobody needs", _gates_at_rest_stay),
    Mutant(
        "runners-of-one-name-are-one",
        "X10",
        "calls of an earlier life of a runner are not lost",
        _runners_of_one_name_are_one,
    ),
    Mutant("nobody-is-lost", "X10", "calls of a runner that is gone stay its own", _nobody_is_lost),
    Mutant("times-do-not-come", "X10", "nobody looks at what is due", _times_do_not_come),
    Mutant(
        "reports-are-dropped-before-the-answer",
        "X3",
        "a runner forgets a report that was not answered",
        _reports_are_dropped_before_the_answer,
    ),
    Mutant(
        "a-runner-does-not-say-what-it-makes",
        "X3",
        "a call is handed out again to who makes it",
        _a_runner_does_not_say_what_it_makes,
    ),
    Mutant("last-come-first-served", "X7", "a gate turns its queue", _last_come_first_served),
    Mutant("one-holder-too-many", "X7", "a gate counts from 0", _one_holder_too_many),
    Mutant(
        "refused-where-there-is-room",
        "X7",
        "`cancel` and `fail` count themselves",
        _refused_where_there_is_room,
    ),
    Mutant(
        "a-refused-execution-ends-otherwise",
        "X7",
        "`fail` ends as KILLED",
        _full_gates_always_queue,
    ),
    Mutant(
        "the-end-of-a-child-is-kept-back",
        "X10",
        "a subflow step never hears of its execution",
        _the_end_of_a_child_is_kept_back,
    ),
    Mutant("steps-begin-in-a-pause", "X8", "a pause stops nothing", _steps_begin_in_a_pause),
    Mutant(
        "kills-are-answered-and-not-done",
        "X4",
        "a kill is answered, and nothing follows",
        _kills_are_answered_and_not_done,
    ),
)
