"""Names of time zones: those that exist are taken, others are told before any job runs."""

import zoneinfo

import pytest

from tasks.rows.time.zone_names import REGIONS
from tasks.rows.time.zones import ZoneError, read_zone
from tasks.spark.session import SparkRuntime


def test_every_name_is_known_to_the_database_of_the_machine() -> None:
    assert zoneinfo.available_timezones() >= REGIONS
    assert {"Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+5"} < REGIONS


@pytest.mark.spark
def test_every_name_is_known_to_spark(spark: SparkRuntime) -> None:
    """Goal: a zone that Spark does not have fails the job, and every job after it."""
    jvm = spark.context._jvm
    assert jvm is not None
    known = set(jvm.java.time.ZoneId.getAvailableZoneIds())
    assert known >= REGIONS, REGIONS - known


@pytest.mark.parametrize("name", ["", "Berlin", "Europe/Berln", "europe/berlin", "+5", "${env:X}"])
def test_what_is_no_zone_is_refused(name: str) -> None:
    with pytest.raises(ZoneError, match="is no time zone"):
        read_zone(name)


def test_a_slip_of_the_pen_is_told() -> None:
    with pytest.raises(ZoneError) as refused:
        read_zone("Europe/Berln")
    assert refused.value.fix == "did you mean Europe/Berlin?"
