"""What the database, the broker and the group of stored reports say; what doctor judges by."""

import re
from collections.abc import Mapping, Sequence

from supervisor.adapters.kafka.group_lag import GroupLag
from supervisor.adapters.kafka.report_topic_checks import TopicFacts, look_at_topics
from supervisor.adapters.reports.database import ReportDatabase
from supervisor.app.report_stores import reports_url
from supervisor.settings.settings import Settings

__all__ = [
    "DEAD_TOPIC",
    "INLINE_TOPIC",
    "TopicFacts",
    "group_of",
    "records_behind",
    "topic_facts",
    "try_database",
]

DEAD_TOPIC = "dead.persister"
INLINE_TOPIC = "activations"


def try_database(settings: Settings) -> None:
    """Read from the database of reports.

    Raises:
        StoreAway: it does not answer.
        StoreRefuses: it has another schema, or refuses the login.
    """
    database = ReportDatabase(reports_url(settings))
    try:
        with database.reading():
            pass
    finally:
        database.close()


def topic_facts(settings: Settings, client: Mapping[str, str]) -> Sequence[TopicFacts]:
    """Return what the brokers say of the topics of completed records and of dead letters.

    In mode `inline` also of the topic of whole records.  `client`: properties of librdkafka.

    Raises:
        StoreAway: they do not answer.
    """
    prefix = settings.reports_prefix
    names = [f"{prefix}completed.{settings.reports_topic}", f"{prefix}{DEAD_TOPIC}"]
    if settings.reports_mode == "inline":
        names.append(f"{prefix}{INLINE_TOPIC}")
    return look_at_topics(client, names)


def group_of(settings: Settings) -> str:
    """Return the consumer group of the persisters."""
    return f"{settings.reports_prefix}persister"


def records_behind(settings: Settings, client: Mapping[str, str]) -> int:
    """Return how many records the persisters have not stored yet.

    Raises:
        StoreAway: the brokers do not answer, or refuse the group.
    """
    pattern = re.compile(rf"{re.escape(settings.reports_prefix)}(completed[.-].*|activations)")
    lags = GroupLag(client, pattern, group_of(settings)).read()
    return sum(each.records for each in lags.values())
