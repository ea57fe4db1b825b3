"""Tests of `tasks/machine/`."""
