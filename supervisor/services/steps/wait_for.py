"""`waitFor`: what is to be so, as the looks judge it; nothing is changed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from pydantic import JsonValue

from supervisor.core.planning.wished_offsets import TimedOffsets
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.tables.exports import queue_of
from supervisor.core.values.errors import NotExported
from supervisor.core.values.export_formats import ExportFormat
from supervisor.ports.store import Store
from supervisor.services.steps.arguments import Arguments, whole_of, wrong_argument
from supervisor.services.steps.supervisor_verbs import partition_of
from supervisor.services.steps.verb import Begun, VerbRequest
from supervisor.services.supervisors.specs import Service

__all__ = ["WaitForVerb", "reads_nothing_first"]

_LATEST = "latest"


def reads_nothing_first(wanted: VerbRequest) -> bool:
    """Whether what is waited for is in the step itself: a repeat waits for the same.

    The end of a topic or of a table's changes is another one later, so that it is kept by a key.
    """
    given = wanted.arguments.given
    return given.get("published") != _LATEST and given.get("exported") is None


@dataclass(frozen=True)
class WaitForVerb:
    """Works out what is waited for: the end of a topic or of a table's changes is that of now."""

    store: Store
    service: Service
    look_at: Callable[[SupervisorSpec, datetime | None], TimedOffsets]
    """Asks Kafka, for some seconds at most."""

    def begin(self, wanted: VerbRequest) -> Begun:
        """Return what the looks have to see."""
        given = wanted.arguments
        operation, table = given.text_or_none("operation"), given.text_or_none("table")
        if operation is not None:
            return Begun({"operation": operation}, {"operation": operation})
        if table is not None:
            return Begun({}, self._export(table, given))
        name = given.text("supervisor")
        waits: dict[str, JsonValue] = {"supervisor": name}
        if (state := given.text_or_none("state")) is not None:
            return Begun({}, {**waits, "state": state.upper()})
        if (most := given.whole("lagAtMost")) is not None:
            return Begun({}, {**waits, "lagAtMost": most})
        return Begun({}, {**waits, "published": self._offsets(name, given)})

    def recall(self, wanted: VerbRequest) -> Begun:
        """It changes nothing, so it begins anew."""
        return self.begin(wanted)

    def foresee(self, wanted: VerbRequest) -> Mapping[str, JsonValue]:
        """Return what it would wait for."""
        return self.begin(wanted).waits or {}

    def _offsets(self, name: str, given: Arguments) -> dict[str, JsonValue]:
        spec = self.service.spec(name)
        if given.given.get("published") == _LATEST:
            stable = self.look_at(spec, None).log.stable
            return {str(p): at for p, at in sorted(stable.items()) if spec.io_config.reads(p.topic)}
        wanted = given.mapping("published")
        if not wanted:
            raise wrong_argument("published", wanted, "partition -> offset, or `latest`")
        topic = spec.io_config.topic
        return {
            str(partition_of(key, topic)): whole_of("published", at) for key, at in wanted.items()
        }

    def _export(self, table: str, given: Arguments) -> dict[str, JsonValue]:
        named = given.text("exported")
        if named not in set(ExportFormat):
            raise wrong_argument("exported", named, " or ".join(ExportFormat))
        kind = ExportFormat(named)
        with self.store.reading() as tx:
            export = tx.exports.get(table, kind)
            row = tx.events.find(queue_of(table, kind))
        if export is None or not export.enabled:
            raise NotExported(table, kind)
        sequence = 0 if row is None else row.next_seq - 1
        return {"table": table, "exported": kind.value, "sequence": sequence}
