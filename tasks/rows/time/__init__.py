"""Joda patterns, periods, zones and the tiling of time, pure."""
