"""An execution as a picture: each step once, whatever it has come to."""

from datetime import timedelta

from supervisor.core.executions.graph import edges_of, nodes_of
from supervisor.core.executions.inputs import Fails, PauseIt, ResumeIt
from supervisor.core.executions.plan import EachWork, FlowPlan, OnError, Step, SwitchWork
from supervisor.core.executions.states import StepState
from tests.supervisor.core.executions.world import BEGAN, BROKEN, World, call, outcome_of

_EACH = Step("all", EachWork([0, 1, 2], (call("one"), call("two", "one")), concurrency=2))
_WAY = Step("way", SwitchWork("'a'", {"a": (call("left"),)}, (call("right"),)), after=("all",))
_PLAN = FlowPlan("f", 1, (_EACH, _WAY), on_failure=(call("page"),), always=(call("tidy"),))


def test_each_step_is_a_node_and_items_are_counted() -> None:
    world = World()
    world.start(_PLAN)
    first, second = world.take_calls()
    world.claim(first)
    world.report(first, Fails(BROKEN))
    nodes = {node.step: node for node in nodes_of(world.get())}

    assert list(nodes) == ["all", "one", "two", "way", "left", "right", "page", "tidy"]
    assert nodes["one"].runs == {StepState.FAILED: 1, StepState.SUBMITTED: 1}
    assert (nodes["one"].state, nodes["one"].attempts) == (StepState.RUNNING, 2)
    assert (nodes["one"].inside, nodes["one"].ended_at) == ("all", None)
    assert (nodes["left"].inside, nodes["left"].case, nodes["right"].case) == ("way", "a", None)
    assert (nodes["way"].state, nodes["way"].began_at) == (None, None)
    assert edges_of(list(nodes.values())) == [("one", "two"), ("all", "way")]
    assert [nodes[name].kind for name in ("all", "way", "one")] == ["forEach", "switch", "noop"]

    world.claim(second)
    world.report(second, Fails(BROKEN))
    world.pass_time(timedelta(seconds=5))
    world.finish()
    nodes = {node.step: node for node in nodes_of(world.get())}
    assert nodes["one"].state is StepState.FAILED
    assert nodes["one"].ended_at == BEGAN
    assert nodes["page"].state is StepState.SUCCESS


def test_of_runs_that_have_ended_the_worst_counts() -> None:
    each = EachWork([0, 1], (call("one", on_error=OnError.CONTINUE),))
    world = World()
    world.start(FlowPlan("f", 1, (Step("all", each),)))
    world.make_calls(outcome_of())
    assert {node.step: node.state for node in nodes_of(world.get())} == {
        "all": StepState.SUCCESS,
        "one": StepState.SUCCESS,
    }


def test_the_time_of_a_pause_is_kept_until_it_goes_on() -> None:
    world = World()
    world.start(_PLAN)
    world.pass_time(timedelta(hours=2))
    world.send("e1", PauseIt("ann"))
    assert world.get().paused_at == BEGAN + timedelta(hours=2)
    world.send("e1", ResumeIt("ann"))
    assert world.get().paused_at is None
