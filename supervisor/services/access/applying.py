"""The check of a spec against the grants of whoever applies it."""

from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.errors import NotAllowed
from supervisor.core.values.permissions import Caller, Permission
from supervisor.services.access.ownership import Allowed

__all__ = ["applying"]


def applying(caller: Caller) -> Allowed:
    """Return the service's check of a spec: it raises if the caller may not apply it."""

    def check(table: str, spec: SupervisorSpec | None = None) -> None:
        if not caller.may(Permission.APPLY, table):
            raise NotAllowed(f"you may not apply a spec of the dataSource [{table}]")
        if spec is not None and not caller.may_apply(table, spec.io_config.topic):
            read = spec.io_config.topic or "more than one topic"
            raise NotAllowed(f"you may not read {read} into the dataSource [{table}]")

    return check
