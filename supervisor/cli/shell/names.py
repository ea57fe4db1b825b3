"""Rules for `-o name`, verb by verb: the printed words are arguments of the next verb.

A verb that lists prints the words of each row.  A verb about one thing prints the words of the
thing.  A verb whose rows no other verb takes refuses `-o name` with a hint.  A test compares the
rules with the tree of commands, so a new verb needs a rule.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class Rows:
    """The rule for a verb that lists."""

    columns: tuple[str, ...]
    """Headings of the printed columns, in the order of the next verb's arguments."""
    takes: str
    """The next verb, with other arguments that it needs before these."""


@dataclass(frozen=True)
class About:
    """The rule for a verb about one thing, or about several named things."""

    what: str
    """The thing's arguments, as named in the usage of its group's verbs."""


@dataclass(frozen=True)
class Nameless:
    """The rule for a verb whose rows are no arguments of any verb."""

    instead: str


Naming = Rows | About | Nameless

_SUPERVISOR, _TASK, _WORKER, _TABLE = About("ID"), About("ID"), About("ID"), About("TABLE")
_QUEUE = About("CONTAINER NAME")
_LETTER = About("PARTITION OFFSET")
_DATA = Nameless("-o json prints all that is known of each")

NAMES: Mapping[str, Naming] = MappingProxyType(
    {
        "audit": _DATA,
        "logs": _DATA,
        "task reports": _DATA,
        "supervisor reports": _DATA,
        "overview": Nameless("-o json prints what each item is about"),
        "whoami": Nameless("-o json prints the name, the grants and the permissions"),
        "verify": Nameless("the exit code is the answer, and -o json prints the findings"),
        "query": Nameless("-o json prints the rows"),
        "flow list": Rows(("FLOW",), "flow get"),
        "flow apply": About("FLOW"),
        "flow get": About("FLOW"),
        "flow diff": Nameless("the exit code is the answer, and -o json prints the differences"),
        "flow history": Nameless("-o json prints all that is known of each version"),
        "flow triggers": Rows(("TRIGGER",), "flow trigger FLOW"),
        "execution run": About("ID"),
        "execution list": Rows(("ID",), "execution get"),
        "execution get": About("ID"),
        "execution rerun": About("ID"),
        "execution partitions": Nameless("-o json prints all that is known of each"),
        "execution project": Nameless("-o json prints how many executions are read again"),
        "execution dead list": Rows(("OFFSET",), "execution dead show"),
        "execution dead show": About("OFFSET"),
        "execution dead replay": About("OFFSET"),
        "execution dead drop": About("OFFSET"),
        "execution watch": Nameless("-o json prints each event"),
        "flow plan": Nameless("the exit code is the answer, and -o json prints the steps"),
        "flow simulate": Nameless("the exit code is the answer, and -o json prints the events"),
        "doctor": Nameless("the exit code is the answer, and -o json prints each part"),
        "supervisor list": Rows(("ID",), "supervisor status"),
        "supervisor top": Rows(("ID",), "supervisor status"),
        "supervisor get": _SUPERVISOR,
        "supervisor status": _SUPERVISOR,
        "supervisor health": _SUPERVISOR,
        "supervisor history": Rows(("NUMBER",), "supervisor rollback ID --to"),
        "supervisor apply": _SUPERVISOR,
        "supervisor diff": _SUPERVISOR,
        "supervisor sample": Nameless("-o json prints the records"),
        "supervisor rollback": _SUPERVISOR,
        "supervisor suspend": _SUPERVISOR,
        "supervisor resume": _SUPERVISOR,
        "supervisor terminate": _SUPERVISOR,
        "supervisor forget": _SUPERVISOR,
        "supervisor reset": _SUPERVISOR,
        "supervisor handoff": _SUPERVISOR,
        "supervisor coverage": Nameless("-o json prints the runs of each partition"),
        "supervisor explain": _SUPERVISOR,
        "supervisor partitions": Nameless("-o json prints all that is known of each partition"),
        "supervisor events": _DATA,
        "supervisor ranges": _DATA,
        "supervisor plans": _DATA,
        "supervisor lag": Rows(("ID",), "supervisor status"),
        "supervisor watch": Nameless("-o json prints events, with the id that --after takes"),
        "task list": Rows(("ID",), "task get"),
        "task find": Rows(("ID",), "task get"),
        "task get": _TASK,
        "task stop": _TASK,
        "task stop-all": _TABLE,
        "worker list": Rows(("ID",), "worker disable"),
        "worker show": _WORKER,
        "worker disable": _WORKER,
        "worker enable": _WORKER,
        "worker forget": _WORKER,
        "table list": Rows(("TABLE",), "segment list"),
        "table timeline": _DATA,
        "segment list": Rows(("ID",), "segment mark-unused TABLE --id"),
        "segment mark-unused": _TABLE,
        "segment mark-used": _TABLE,
        "segment retention": _TABLE,
        "queue list": Rows(("CONTAINER", "NAME"), "queue show"),
        "queue show": _QUEUE,
        "queue failed": Rows(("CONTAINER", "NAME", "SEQ"), "queue drop"),
        "queue replay": _QUEUE,
        "queue drop": _QUEUE,
        "queue repair": _QUEUE,
        "reports status": Nameless("-o json prints all that each persister says"),
        "reports dead list": Rows(("PARTITION", "OFFSET"), "reports dead show"),
        "reports dead show": _LETTER,
        "reports dead replay": _LETTER,
        "reports dead drop": _LETTER,
        "quarantine list": Rows(("RECORD", "OFFSET"), "quarantine show ID"),
        "quarantine show": About("TOPIC:PARTITION OFFSET"),
        "quarantine replay": _SUPERVISOR,
        "quarantine send": _SUPERVISOR,
        "quarantine summary": Nameless("-o json prints all counts"),
        "export list": Rows(("TABLE",), "snippet"),
        "compaction run": Rows(("ID",), "compaction cancel"),
        "compaction list": Rows(("ID",), "compaction cancel"),
        "compaction rule": _TABLE,
        "compaction cancel": About("ID"),
        "access list": Rows(("NAME",), "access revoke"),
        "access denied": _DATA,
        "config list": Rows(("NAME",), "--profile"),
        "config show": _DATA,
    }
)
"""Verb, without `tidegate` -> its rule for `-o name`."""
