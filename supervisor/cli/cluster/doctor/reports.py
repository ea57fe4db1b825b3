"""Checks of what stores logs and reports: topics, rights, limits, store, persisters, clocks."""

from collections.abc import Iterator

from supervisor.app.brokers import report_brokers
from supervisor.app.report_facts import (
    DEAD_TOPIC,
    INLINE_TOPIC,
    TopicFacts,
    group_of,
    records_behind,
    topic_facts,
    try_database,
)
from supervisor.cli.cluster.doctor.check import InstallationCheck, Result
from supervisor.cli.cluster.doctor.status import CLOCK_FIX, NoStatus, ask_status
from supervisor.ports.store_problems import StoreAway, StoreRefuses
from supervisor.settings.problems import SetupProblem
from supervisor.settings.settings import Settings
from tasks.reporting.sizes import INLINE_TOPIC_BYTES, TOPIC_BYTES, larger_command

__all__ = ["check_reports", "topic_check"]


def check_reports(settings: Settings) -> Iterator[InstallationCheck]:
    """Yield the checks; none where logs and reports are not stored."""
    if not (settings.reports_kafka or settings.reports_persister or settings.reports_url):
        return
    yield _store(settings)
    yield from _topics(settings)
    for url in settings.reports_persister:
        yield _persister(settings, url)


def _store(settings: Settings) -> InstallationCheck:
    part = "store of reports"
    try:
        try_database(settings)
    except StoreAway as error:
        fix = "check TIDEGATE_REPORTS_URL, and that the database is up"
        return InstallationCheck(part, Result.PROBLEM, str(error), fix)
    except StoreRefuses as error:
        return InstallationCheck(part, Result.PROBLEM, str(error), "start it: tidegate persister")
    return InstallationCheck(part, Result.OK, "it answers, with the schema of this release")


def _topics(settings: Settings) -> Iterator[InstallationCheck]:
    part = f"reports at {settings.reports_kafka}"
    try:
        client = report_brokers(settings)
    except SetupProblem as error:
        yield InstallationCheck(part, Result.PROBLEM, str(error), error.fix)
        return
    if client is None:
        return
    try:
        for each in topic_facts(settings, client):
            yield topic_check(each)
    except StoreAway as error:
        fix = "check TIDEGATE_REPORTS_KAFKA, and that its advertised listeners are reachable"
        yield InstallationCheck(part, Result.PROBLEM, str(error), fix)
        return
    group = group_of(settings)
    try:
        behind = records_behind(settings, client)
    except StoreAway as error:
        fix = f"the persister needs the right to read the group {group}"
        yield InstallationCheck(f"group {group}", Result.PROBLEM, str(error), fix)
        return
    yield InstallationCheck(f"group {group}", Result.OK, f"{behind} records are not stored yet")


def topic_check(facts: TopicFacts) -> InstallationCheck:
    """Judge a topic by what its broker says of it."""
    part = f"topic {facts.name}"
    if not facts.exists:
        fix = "a persister makes it at its start, or its log says how"
        return InstallationCheck(part, Result.PROBLEM, "it is not there", fix)
    wanted = {"READ", "WRITE", "DESCRIBE"}
    if facts.operations is not None and (missing := wanted - facts.operations):
        words = ", ".join(sorted(missing))
        fix = f"kafka-acls --add --operation {min(missing).title()} --topic {facts.name} ..."
        return InstallationCheck(part, Result.PROBLEM, f"the right to {words} is missing", fix)
    is_inline = facts.name.endswith(INLINE_TOPIC) and "completed." not in facts.name
    largest = INLINE_TOPIC_BYTES if is_inline else TOPIC_BYTES
    if facts.bytes_max is not None and facts.bytes_max < largest:
        finding = f"it takes {facts.bytes_max} bytes, and a record has up to {largest}"
        fix = larger_command(facts.name, largest)
        return InstallationCheck(part, Result.PROBLEM, finding, fix)
    what = "dead letters" if facts.name.endswith(DEAD_TOPIC) else "reports"
    return InstallationCheck(part, Result.OK, f"it is there, and takes {what} of full size")


def _persister(settings: Settings, url: str) -> InstallationCheck:
    part = f"persister {url}"
    try:
        answer = ask_status(settings, url)
    except NoStatus as error:
        return InstallationCheck(part, Result.PROBLEM, str(error), "start it: tidegate persister")
    status = answer.status
    if status.state not in {"RUNNING", "BACKING_OFF"}:
        finding = f"{status.state}: {status.reason or 'no reason is given'}"
        return InstallationCheck(part, Result.PROBLEM, finding, status.fix)
    if answer.clock:
        return InstallationCheck(part, Result.PROBLEM, answer.clock, CLOCK_FIX)
    return InstallationCheck(part, Result.OK, f"{status.state}, and its clock agrees")
