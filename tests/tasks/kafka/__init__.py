"""Tests of `tasks/kafka/`."""
