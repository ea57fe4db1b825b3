"""The engines that executions may live on; an engine is refused while executions live elsewhere."""

from enum import StrEnum

from supervisor.ports.store_problems import StoreRefuses

__all__ = ["EngineKind", "EngineRefused"]


class EngineKind(StrEnum):
    """SQL: the overlord that leads, in the database.  KAFKA: executors, on topics."""

    SQL = "sql"
    KAFKA = "kafka"

    @property
    def words(self) -> str:
        """Which engine it is, for people."""
        return "in the database" if self is EngineKind.SQL else "on Kafka"

    @property
    def setting(self) -> str:
        """What makes a process use it."""
        return ("without" if self is EngineKind.SQL else "with") + " TIDEGATE_EXECUTIONS_KAFKA"


class EngineRefused(StoreRefuses):
    """Executions live on the other engine, so that this one runs nothing."""

    def __init__(self, wanted: EngineKind, other: EngineKind, live: int) -> None:
        """`live`: how many executions live on `other`."""
        some = "1 execution lives" if live == 1 else f"{live:,} executions live"
        super().__init__(
            f"{some} {other.words}, and here they would run {wanted.words} "
            "(`tidegate execution list --state running`): start overlords and executors "
            f"{other.setting} again, and let them end or kill them; then change the setting"
        )
        self.live = live
