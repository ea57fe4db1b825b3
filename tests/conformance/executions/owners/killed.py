"""An owner of a partition that never commits: its process is to be killed before.

    python -m tests.conformance.executions.owners.killed BOOTSTRAP PREFIX

It writes a line once everything of its first transaction has reached the broker.
"""

import sys
import threading
from datetime import UTC, datetime

from supervisor.adapters.executions.kafka.log import KafkaPartitionLog
from supervisor.adapters.executions.kafka.topics import ExecutionTopics
from supervisor.adapters.executions.kafka.transactions import PartitionProducer
from supervisor.executions.sequencer.batch import PartitionPlan
from supervisor.executions.sequencer.loop import PartitionOwner
from tests.supervisor.core.crashes.world.world import LANGUAGE


class _NeverCommits(PartitionProducer):
    def commit(self) -> None:
        """Wait for the kill."""
        self._producer.flush(30)
        sys.stdout.write("produced\n")
        sys.stdout.flush()
        threading.Event().wait(120)


def main() -> None:
    """Own the one partition, and work until it is killed."""
    bootstrap, prefix = sys.argv[1:]
    topics = ExecutionTopics(prefix, 1, 1)
    log = KafkaPartitionLog({"bootstrap.servers": bootstrap}, topics, 0, _NeverCommits)
    owner = PartitionOwner(
        0, PartitionPlan(1, 1), log, LANGUAGE, lambda _: None, now=lambda: datetime.now(UTC)
    )
    owner.take_over()
    while not owner.turn():
        pass


if __name__ == "__main__":
    main()
