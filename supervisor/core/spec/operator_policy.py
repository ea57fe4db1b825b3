"""Operator policy: the brokers, schema registries and export formats that specs may name."""

from collections.abc import Collection, Mapping

from supervisor.core.spec.spec import SupervisorSpec, ingest_spec
from supervisor.core.values.errors import FieldError
from supervisor.core.values.export_formats import ExportFormat
from tasks.contract.kafka_client import refused_hosts
from tasks.contract.registry import refused_registries


def forbidden_brokers(spec: SupervisorSpec, allowed: tuple[str, ...] | None) -> list[FieldError]:
    """Return the errors of a spec's brokers; `allowed` None allows all."""
    refused = refused_hosts(spec.io_config.client.bootstrap_servers, allowed)
    if not refused:
        return []
    return [
        FieldError(
            "/spec/ioConfig/consumerProperties/bootstrap.servers",
            f"{', '.join(refused)}: not a host:port that this overlord may connect to",
            "name allowed brokers, or have the operator extend TIDEGATE_KAFKA_ALLOW",
        )
    ]


def forbidden_registries(spec: SupervisorSpec, allowed: tuple[str, ...] | None) -> list[FieldError]:
    """Return the errors of a spec's schema registries; `allowed` None allows all."""
    refused = refused_registries(ingest_spec(spec).registry_urls, allowed)
    if not refused:
        return []
    return [
        FieldError(
            "/spec/ioConfig/inputFormat",
            f"{', '.join(refused)}: not a schema registry that workers may connect to",
            "name an allowed one, or have the operator extend TIDEGATE_REGISTRY_ALLOW",
        )
    ]


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
