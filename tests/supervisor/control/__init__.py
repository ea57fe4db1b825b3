"""Tests of `supervisor/control/`."""
