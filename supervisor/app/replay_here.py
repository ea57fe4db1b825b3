"""A replay of bad records by this process: with the warehouse and the secrets that it has here.

Kafka and Arrow are loaded by the import of this module.
"""

from collections.abc import Sequence
from pathlib import Path

from supervisor.adapters.kafka.replays import ReplayJob, replay
from supervisor.core.history.replays import ReplayOutcome, ReplayRequest
from supervisor.verify.verifier import secret_of_environment
from tasks.contract.kafka_client import KafkaClient, librdkafka_properties


def replay_here(
    client: KafkaClient, files: Sequence[Path], request: ReplayRequest
) -> ReplayOutcome:
    """Send the wanted records of some files that the topic does not have yet.

    Raises:
        SourceUnreadable: the topic does not exist, or not all of its origins can be read.
        StreamUnavailable: Kafka does not answer; a repeat sends nothing twice.
        StorageUnavailable: a file cannot be read; nothing was sent.
    """
    return replay(ReplayJob(files, librdkafka_properties(client, secret_of_environment), request))
