"""Joda formats, periods, zones and chunks of time, pure."""
