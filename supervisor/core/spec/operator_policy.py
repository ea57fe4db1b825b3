"""Operator policy: the connections, secrets and export formats that specs may name."""

from collections.abc import Collection, Mapping

from supervisor.core.spec.spec import SupervisorSpec, ingest_spec
from supervisor.core.values.errors import FieldError
from supervisor.core.values.export_formats import ExportFormat
from tasks.contract.connection_policy import ConnectionPolicy, Connects

_PROPERTIES = "/spec/ioConfig/consumerProperties"
_CONNECTIONS = {
    Connects.BROKERS: (
        f"{_PROPERTIES}/bootstrap.servers",
        "{}: not a host:port that this overlord may connect to",
        "name allowed brokers, or have the operator extend TIDEGATE_KAFKA_ALLOW",
    ),
    Connects.TLS: (
        f"{_PROPERTIES}/security.protocol",
        "{}: brokers are connected to by TLS only here",
        "SSL or SASL_SSL",
    ),
    Connects.REGISTRY: (
        "/spec/ioConfig/inputFormat",
        "{}: not a schema registry that workers may connect to",
        "name an allowed one, or have the operator extend TIDEGATE_REGISTRY_ALLOW",
    ),
    Connects.SECRET: (
        "/spec/ioConfig",
        "{}",
        "name another secret, or have the operator extend the variable's _FOR",
    ),
}
"""Part of a spec -> where it is, what is wrong with it, and what to do."""


def forbidden_connections(spec: SupervisorSpec, policy: ConnectionPolicy) -> list[FieldError]:
    """Return the errors of a spec's brokers, registries and secrets."""
    errors = []
    for refusal in policy.refusals(ingest_spec(spec)):
        pointer, message, hint = _CONNECTIONS[refusal.part]
        errors.append(FieldError(pointer, message.format(refusal.text), hint))
    return errors


def misplaced_exports(
    spec: SupervisorSpec, misread: Mapping[ExportFormat, str]
) -> list[FieldError]:
    """Return the errors of exports that cannot be in this warehouse.

    `misread`: format -> the part of the warehouse's path that its library misreads.
    """
    return [
        FieldError(
            "/spec/dataSchema/exports",
            f"{each}: the library that writes it misreads the {misread[each]} in the warehouse's "
            "path",
            "leave it out, or have the operator move the warehouse to a path without it",
        )
        for each in spec.data_schema.exports
        if each in misread
    ]


def lacking_exports(spec: SupervisorSpec, built: Collection[ExportFormat]) -> list[FieldError]:
    """Return the errors of exports whose library is missing; `built`: formats with a library."""
    lacking = [each for each in spec.data_schema.exports if each not in built]
    if not lacking:
        return []
    return [
        FieldError(
            "/spec/dataSchema/exports",
            f"{', '.join(lacking)}: this overlord lacks the package that writes it",
            f"leave it out, or have the operator install tidegate[{lacking[0]}]",
        )
    ]


def taken_name(spec: SupervisorSpec, tables: Collection[str]) -> list[FieldError]:
    """Return an error if a new table's name differs only in case from one of `tables`."""
    name = spec.data_source
    if name in tables:
        return []
    alike = sorted(other for other in tables if other.lower() == name.lower())
    if not alike:
        return []
    return [
        FieldError(
            "/spec/dataSchema/dataSource",
            f"{name} differs in case only from the table {alike[0]}: who queries tables by SQL "
            "cannot tell them apart, nor can some file systems",
            f"name it {alike[0]} to feed that table, or give it another name",
        )
    ]
