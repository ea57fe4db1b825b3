"""The incident bundle of a supervisor: reads each part, and packs what could be read.

rows, last passes ──► answers as the API gives them ──┐
workers           ──► logs of failed tasks ───────────┴──► masked, bounded ──► zip with a manifest

A part that cannot be read is a line of the manifest.  An incident is when parts do not answer.
"""

import platform
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from io import BytesIO

from pydantic import BaseModel

from supervisor.core.history.bundle import (
    LOG_BYTES_MAX,
    MANIFEST,
    BundleFile,
    BundleWindow,
    Packed,
    file_name_of,
    json_file,
    log_file,
    manifest_of,
    packed,
    spec_diff,
)
from supervisor.core.history.listing import ListFilter, ListOrder
from supervisor.core.history.windows import EventWindow, RangeWindow
from supervisor.core.model.rows import Task, TaskStatus
from supervisor.core.model.task_query import TaskQuery
from supervisor.core.queue.events import container_of
from supervisor.core.values.errors import LeaseLost, SupervisorError
from supervisor.core.values.permissions import Caller
from supervisor.ports.clock import Clock
from supervisor.services.access.ownership import Ownership
from supervisor.services.services import Services
from supervisor.services.supervisors.version_pages import (
    PageBounds,
    version_lines_page,
    version_page,
)
from supervisor.views.attention.explain import explain
from supervisor.views.attention.overview import AttentionView
from supervisor.views.listing import supervisors_page
from supervisor.views.partitions import partitions_page
from tasks.contract.wire import iso_utc
from tasks.runtime.secrets import without_secrets

ROWS_MAX = 1_000
"""Rows of one page, and partitions, plans, operations and tasks of a bundle."""
BY_NAME = "partition"
PAGES_MAX = 5
"""Pages of events, and of ranges; a page of a window may have fewer rows than requested."""
ATTENTION_MAX = 1_000
LOGS_MAX = 10
"""Newest failed tasks whose logs are fetched."""
LOGS_TAKE_S = 3.0
"""No further log is begun after this time: a follower waits 5 s for the leader's answer."""

_Read = Callable[[], object]


@dataclass(frozen=True)
class BundleArchive:
    """A bundle as a zip archive."""

    name: str
    content: bytes


@dataclass
class _Parts:
    """The parts of one bundle that were read so far."""

    files: list[BundleFile] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, read: _Read, *, cut: str = "") -> None:
        """Add what `read` returns as JSON; if it fails, the reason is kept instead."""
        try:
            content = _plain(read())
        except SupervisorError as error:
            self.missing[name] = without_secrets(str(error))
            return
        self.files.append(json_file(name, content, without_secrets, cut=cut))


@dataclass(frozen=True)
class Bundles:
    """Makes incident bundles, from the services that answer each part."""

    services: Services
    clock: Clock

    def of(self, supervisor_id: str, caller: Caller, window: BundleWindow) -> BundleArchive:
        """Return the bundle of a supervisor, also of a terminated one.

        Raises:
            LeaseLost: another overlord leads, and knows more.
        """
        try:
            self.services.leadership.term()
        except LeaseLost as lost:
            if lost.leader is not None:
                raise
        parts = _Parts()
        self._present(parts, supervisor_id, caller)
        self._past(parts, supervisor_id, window, caller)
        self._versions(parts, supervisor_id, caller)
        self._logs(parts, supervisor_id)
        content = packed(parts.files, parts.missing)
        manifest = manifest_of(supervisor_id, window, self._origin(), content)
        name = f"{file_name_of(supervisor_id)}-{window.at:%Y%m%dT%H%M%SZ}.zip"
        return BundleArchive(name, _zipped(manifest, content, window))

    def _origin(self) -> dict[str, str]:
        return {
            "madeAt": iso_utc(self.clock.now()),
            "overlord": self.services.leadership.leader_url() or "",
            "version": self.services.version,
            "python": platform.python_version(),
        }

    def _present(self, parts: _Parts, supervisor_id: str, caller: Caller) -> None:
        """Add what is so now; the window does not matter for it."""
        s = self.services
        chronicle, queries = s.chronicle, s.supervisors
        parts.add(
            "explanation.json",
            lambda: explain(
                queries.status(supervisor_id),
                chronicle.state(supervisor_id),
                queries.plans(supervisor_id, 1).plans,
            ),
        )
        parts.add("attention.json", lambda: self._attention(supervisor_id, caller))
        parts.add("row.json", lambda: self._row(supervisor_id, caller))
        parts.add("status.json", lambda: queries.status(supervisor_id))
        parts.add(
            "partitions.json",
            lambda: partitions_page(
                *queries.partitions(supervisor_id), "partition", ROWS_MAX, None
            ),
        )
        parts.add("workers.json", lambda: self._workers(supervisor_id))

    def _attention(self, supervisor_id: str, caller: Caller) -> list[AttentionView]:
        items = self.services.overviews.of(caller, ATTENTION_MAX).attention
        return [each for each in items if _concerns(each, supervisor_id)]

    def _row(self, supervisor_id: str, caller: Caller) -> object:
        wanted = ListFilter(text=supervisor_id)
        may_read = _may_read(caller)
        shown = self.services.listing.page(may_read, wanted, ListOrder("id"), ROWS_MAX)
        rows = supervisors_page(shown.page, shown.remedies, shown.running).supervisors
        return next((row for row in rows if row.id == supervisor_id), None)

    def _workers(self, supervisor_id: str) -> list[dict[str, object]]:
        """Return the workers that have tasks of it, without those of other supervisors."""
        with self.services.store.reading() as tx:
            mine = {t.worker_id for t in tx.tasks.active() if t.supervisor_id == supervisor_id}
        return [
            {
                "id": line.worker.id,
                "version": line.worker.version,
                "liveness": line.liveness,
                "stopping": line.stopping,
                "disabled": line.disabled,
            }
            for line in self.services.tasks.workers()
            if line.worker.id in mine
        ]

    def _past(
        self, parts: _Parts, supervisor_id: str, window: BundleWindow, caller: Caller
    ) -> None:
        """Add what happened in the window."""
        s, chronicle = self.services, self.services.chronicle
        begin = window.begin
        if not caller.reads_all:  # what is older is of a forgotten supervisor with this id
            begin = max(begin, Ownership(s.store).first_of_supervisor(supervisor_id) or begin)
        events = EventWindow(supervisor_id, begin=begin, end=window.end)
        ranges = RangeWindow(begin=begin, end=window.end)
        parts.add(
            "events.json",
            lambda: _paged(lambda at: chronicle.events(ROWS_MAX, at, events), "events"),
        )
        parts.add(
            "ranges.json",
            lambda: _paged(
                lambda at: chronicle.generations(supervisor_id, ROWS_MAX, at, ranges),
                "generations",
            ),
        )
        parts.add("plans.json", lambda: chronicle.plans(supervisor_id, ROWS_MAX, until=window.end))
        parts.add(
            "operations.json",
            lambda: chronicle.operations(ROWS_MAX, supervisor_id=supervisor_id),
        )
        parts.add("lag.json", lambda: chronicle.lag(supervisor_id, window.begin, window.end, None))
        query = TaskQuery(supervisor_id=supervisor_id)
        parts.add("tasks.json", lambda: s.tasks.page(query, ROWS_MAX))

    def _versions(self, parts: _Parts, supervisor_id: str, caller: Caller) -> None:
        may_read, store = _may_read(caller), self.services.store
        parts.add(
            "history.json",
            lambda: version_lines_page(store, supervisor_id, may_read, ROWS_MAX),
        )
        try:
            bounds = PageBounds(count=2)
            rows = version_page(store, supervisor_id, may_read, bounds=bounds).rows
        except SupervisorError as error:
            parts.missing["spec"] = without_secrets(str(error))
            return
        for row in rows:
            name = f"spec/version-{row.version_number}.json"
            parts.files.append(json_file(name, row.spec, without_secrets))
        if len(rows) > 1:
            newer, older = rows[0], rows[1]
            text = without_secrets(spec_diff(older.spec, newer.spec))
            parts.files.append(BundleFile("spec/last-change.diff", text.encode()))

    def _logs(self, parts: _Parts, supervisor_id: str) -> None:
        """Add the ends of the logs of the newest failed tasks, as long as there is time."""
        try:
            with self.services.store.reading() as tx:
                failed = tx.tasks.find(
                    status=TaskStatus.FAILED, supervisor_id=supervisor_id, limit=LOGS_MAX
                )
        except SupervisorError as error:
            parts.missing["logs"] = without_secrets(str(error))
            return
        began = self.clock.monotonic()
        for task in failed:
            name = f"logs/{file_name_of(task.id)}.log"
            if self.clock.monotonic() - began > LOGS_TAKE_S:
                parts.missing[name] = "the time for logs was over: tidegate task logs has it"
                continue
            self._log(parts, name, task)

    def _log(self, parts: _Parts, name: str, task: Task) -> None:
        try:
            part = self.services.task_logs.log(task.id, -LOG_BYTES_MAX)
        except SupervisorError as error:
            parts.missing[name] = without_secrets(str(error))
            return
        parts.files.append(log_file(name, part.content, part.size, without_secrets))


def _may_read(caller: Caller) -> Callable[[str | None], bool]:
    return lambda table: caller.reads_all or caller.may_read(table or "")


def _concerns(item: AttentionView, supervisor_id: str) -> bool:
    """Return whether an item of attention is about a supervisor, or concerns it as well."""
    of_queue = f"{container_of(supervisor_id)}/"
    return (
        (item.about.kind == "supervisor" and item.about.id == supervisor_id)
        or (item.about.kind == "queue" and item.about.id.startswith(of_queue))
        or item.about.kind == "cluster"
        or supervisor_id in item.supervisors
    )


def _plain(content: object) -> object:
    """Return an answer as JSON values."""
    if isinstance(content, BaseModel):
        return content.model_dump(mode="json", by_alias=True)
    if isinstance(content, list):
        return [_plain(each) for each in content]
    return content


def _paged(read: Callable[[str | None], BaseModel], rows: str) -> dict[str, object]:
    """Return the rows of some pages, and whether there are more."""
    collected: list[object] = []
    cursor: str | None = None
    for _ in range(PAGES_MAX):
        page = read(cursor).model_dump(mode="json", by_alias=True)
        collected += page[rows]
        cursor = page["next"]
        if cursor is None:
            break
    return {rows: collected, "more": cursor is not None}


def _zipped(manifest: Mapping[str, object], content: Packed, window: BundleWindow) -> bytes:
    whole = BytesIO()
    day = window.at
    stamp = (max(day.year, 1980), day.month, day.day, day.hour, day.minute, day.second)
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        for each in _with_manifest(manifest, content):
            archive.writestr(zipfile.ZipInfo(each.name, stamp), each.content, zipfile.ZIP_DEFLATED)
    return whole.getvalue()


def _with_manifest(manifest: Mapping[str, object], content: Packed) -> Iterator[BundleFile]:
    yield json_file(MANIFEST, manifest, without_secrets)
    yield from content.files
