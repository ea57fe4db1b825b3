"""What `-o name` prints, verb by verb: the words that the next verb takes as its arguments.

A verb that lists prints them of each row, a verb about one thing prints those of that thing, and
a verb whose rows no other verb takes refuses `-o name` and says what to use instead.  A test holds
this against the tree of commands, so that a new verb has to say what it prints.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class Rows:
    """A verb that lists."""

    columns: tuple[str, ...]
    """Headings of the columns whose cells are printed, in the order of the next verb's words."""
    takes: str
    """Who takes them: a verb, with what else it has to be given before them."""


@dataclass(frozen=True)
class About:
    """A verb about one thing, or several that were named."""

    what: str
    """The thing's words, as the verbs of its group call them."""


@dataclass(frozen=True)
class Nameless:
    """A verb whose rows have nothing that a verb takes."""

    instead: str


Naming = Rows | About | Nameless

_SUPERVISOR, _TASK, _WORKER, _TABLE = About("ID"), About("ID"), About("ID"), About("TABLE")
_QUEUE = About("CONTAINER NAME")
_DATA = Nameless("-o json prints all that is known of each")

NAMES: Mapping[str, Naming] = MappingProxyType(
    {
        "audit": _DATA,
        "verify": Nameless("the exit code is the answer, and -o json prints the findings"),
        "query": Nameless("-o json prints the rows"),
        "doctor": Nameless("the exit code is the answer, and -o json prints each part"),
        "supervisor list": Rows(("ID",), "supervisor status"),
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
        "supervisor explain": _SUPERVISOR,
        "supervisor watch": Nameless("-o json prints events, with the id that --after takes"),
        "task list": Rows(("ID",), "task get"),
        "task get": _TASK,
        "task stop": _TASK,
        "worker list": Rows(("ID",), "worker disable"),
        "worker disable": _WORKER,
        "worker enable": _WORKER,
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
        "quarantine list": Rows(("RECORD", "OFFSET"), "quarantine show ID"),
        "quarantine show": About("TOPIC:PARTITION OFFSET"),
        "quarantine replay": _SUPERVISOR,
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
"""The verb, without `tidegate` -> what it prints."""
