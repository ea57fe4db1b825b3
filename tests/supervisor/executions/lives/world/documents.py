"""Random flows as people write them: steps of every kind, gates, triggers."""

import random

from pydantic import JsonValue

Document = dict[str, JsonValue]
CHILD = "child"
REQUESTED = ("one", "two")
"""Flows that people start; the first one has subflows and a webhook."""
FIRED = "three"
"""The flow that schedules and publishes start."""
_KINDS = ("noop",) * 14 + ("set", "sleep", "sleep", "approve", "fail")
_GROUPS = ("parallel", "switch", "forEach", "forEach")


class Documents:
    """Makes documents; step names are unique in all of them."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._number = 0

    def all(self) -> list[Document]:
        """Return every flow of a world, those first that others start."""
        child = self._flow(CHILD, depth=0)
        two = self._flow("two", depth=1)
        two["triggers"] = [self._published("coalesced")]
        one = self._flow("one", depth=1, subflows=True)
        one["triggers"] = [_hook()]
        three = self._flow(FIRED, depth=0)
        three |= {"timeout": "PT60S"}
        three["triggers"] = [self._schedule("cron"), self._published("each")]
        return [child, one, two, three]

    def changed(self, before: Document) -> Document:
        """Return another version: a step of its graph is another one, or a new one is behind."""
        steps = [dict(step) for step in before["steps"]]  # type: ignore[union-attr,arg-type]
        step = self._chance.choice(steps)
        if step["type"] == "set":
            step["values"] = {"n": self._chance.randint(4, 9)}
        elif step["type"] == "noop":
            step["if"] = self._chance.choice(["2 == 2", "3 == 3"])
        else:
            self._number += 1
            steps.append({"name": f"s{self._number}", "type": "noop", "after": [step["name"]]})
        return {**before, "steps": steps}  # type: ignore[dict-item]

    def _flow(self, name: str, *, depth: int, subflows: bool = False) -> Document:
        chance = self._chance
        flow: Document = {
            "flow": name,
            "inputs": [{"name": "k", "default": "a"}, {"name": "id", "default": ""}],
            "steps": self._graph(depth, subflows=subflows),
        }
        if chance.random() < 0.4:
            flow["onFailure"] = self._graph(0)
        if chance.random() < 0.5:
            flow["finally"] = self._graph(0)
        if chance.random() < 0.2:
            flow["timeout"] = self._seconds(60, 240)
        if chance.random() < 0.7:
            full = chance.choice(["queue", "queue", "queue", "cancel", "fail"])
            rule: Document = {"limit": chance.randint(1, 2), "whenFull": full}
            if chance.random() < 0.5:
                rule["key"] = "${ inputs.k }"
            flow["concurrency"] = rule
        return flow

    def _seconds(self, low: int, high: int) -> str:
        return f"PT{self._chance.randint(low, high)}S"

    def _graph(self, depth: int, *, subflows: bool = False) -> list[JsonValue]:
        names: list[str] = []
        steps: list[JsonValue] = []
        for _ in range(self._chance.randint(1, 4 if depth else 2)):
            before = [name for name in names if self._chance.random() < 0.5]
            step = self._step(depth, before, subflows=subflows)
            names.append(str(step["name"]))
            steps.append(step)
        return steps

    def _step(self, depth: int, after: list[str], *, subflows: bool) -> Document:
        chance = self._chance
        self._number += 1
        step: Document = {"name": f"s{self._number}", "after": [*after]}
        step |= self._work(depth, subflows=subflows)
        kind = step["type"]
        if chance.random() < 0.15:
            always, never = "1 == 1", "1 == 2"
            then = [f"steps.{after[0]}.state == 'SUCCESS'"] if after else []
            step["if"] = chance.choice([always, never, *then])
        errors = ["fail", "fail", "continue", *(["pause"] if kind == "noop" else [])]
        step["onError"] = chance.choice(errors)
        if kind in ("noop", "subflow"):
            rule: Document = {"attempts": chance.randint(1, 3), "backoff": self._seconds(1, 5)}
            step["retry"] = rule
        if kind == "noop":
            step["onLost"] = chance.choice(["retry", "retry", "fail", "ask"])
            if chance.random() < 0.3:
                step["timeout"] = self._seconds(5, 60)
            if chance.random() < 0.3:
                step["queueTimeout"] = self._seconds(3, 30)
        return step

    def _work(self, depth: int, *, subflows: bool) -> Document:
        chance = self._chance
        kinds = _KINDS + (_GROUPS if depth else ()) + (("subflow",) * 4 if subflows else ())
        kind = chance.choice(kinds)
        inside = depth - 1
        match kind:
            case "set":
                return {"type": kind, "values": {"n": 3}}
            case "sleep":
                return {"type": kind, "duration": self._seconds(1, 40)}
            case "approve":
                return {"type": kind, "question": "go on?"}
            case "fail":
                return {"type": kind, "message": "so it is"}
            case "parallel":
                return {"type": kind, "steps": self._graph(inside, subflows=subflows)}
            case "switch":
                cases: Document = {name: self._graph(inside) for name in "ab"}
                return {"type": kind, "value": chance.choice(["'a'", "'b'", "'c'"]), "cases": cases}
            case "forEach":
                items: list[JsonValue] = list(range(chance.randint(0, 4)))
                steps = self._graph(inside, subflows=subflows)
                wide = chance.randint(1, 3)
                return {"type": kind, "items": items, "steps": steps, "concurrency": wide}
            case "subflow":
                flow = CHILD if chance.random() < 0.9 else "nobody"
                return {"type": kind, "flow": flow, "inputs": {}}
            case _:
                return {"type": kind}

    def _schedule(self, name: str) -> Document:
        minutes = self._chance.choice([1, 1, 2, 3])
        misfire = self._chance.choice(["all", "once", "none"])
        return {
            "name": name,
            "type": "schedule",
            "cron": f"*/{minutes} * * * *",
            "misfire": misfire,
        }

    def _published(self, mode: str) -> Document:
        return {"name": mode, "type": "published", "table": "t", "mode": mode}


def _hook() -> Document:
    secret = "TIDEGATE_SECRET_HOOK"
    return {"name": "hook", "type": "webhook", "secret": secret, "auth": "token"}
