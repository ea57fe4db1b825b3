"""Rights of an executor that no topic shows: those on its group and on its transactional ids."""

import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # in no __all__ of its stubs
    AdminClient,
    ConsumerGroupDescription,
)

from supervisor.adapters.executions.kafka.rights import KafkaLogin
from supervisor.adapters.executions.kafka.topics import ExecutionTopics
from supervisor.adapters.executions.kafka.transactions import PartitionProducer
from supervisor.ports.flows.execution_log import LogFenced, LogRefuses

__all__ = ["missing_rights"]

_WITHIN_S = 10.0
_AGAIN_S = 0.2
_COORDINATOR_S = 30.0
"""A broker that has just started makes its topics of groups and transactions first."""
_READS = {"READ", "ALL"}
_PASSES = {
    KafkaError.NOT_COORDINATOR,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError._TIMED_OUT,  # noqa: SLF001 -- its public name
}


def missing_rights(
    admin: AdminClient, client: Mapping[str, str], topics: ExecutionTopics
) -> Iterator[str]:
    """Yield what is missing, each with the command that gives it.

    Transactional ids are tried by one that no partition has: to try an owner's would fence it.

    Raises:
        KafkaException, LogAway: Kafka does not answer.
    """
    login = KafkaLogin.of(client, topics)
    if not _may_join(admin, topics.group):
        yield login.missing(KafkaError.GROUP_AUTHORIZATION_FAILED) or ""
    probe = PartitionProducer(client, topics.probe_id, login)
    try:
        probe.fence()
    except LogFenced:
        return  # another one tries at the same time: so it may
    except LogRefuses as error:
        yield str(error)
    finally:
        probe.close()


def _may_join(admin: AdminClient, group: str) -> bool:
    """Return whether we may read a group; a coordinator that is just elected is waited for."""
    until = time.monotonic() + _COORDINATOR_S
    while True:
        try:
            operations = _operations(admin, group)
        except KafkaException as error:
            code = error.args[0].code()
            if code == KafkaError.GROUP_AUTHORIZATION_FAILED:
                return False
            if code not in _PASSES or time.monotonic() > until:
                raise
            admin.poll(_AGAIN_S)
        else:
            return operations is None or bool(_READS & operations)


def _operations(admin: AdminClient, group: str) -> frozenset[str] | None:
    described: Mapping[str, Future[ConsumerGroupDescription]] = admin.describe_consumer_groups(
        [group], include_authorized_operations=True, request_timeout=_WITHIN_S
    )
    given: object = described[group].result(_WITHIN_S + 1).authorized_operations
    return frozenset(each.name for each in given) if isinstance(given, list) else None
