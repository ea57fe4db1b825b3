"""Tests of `tasks/contract/`."""
