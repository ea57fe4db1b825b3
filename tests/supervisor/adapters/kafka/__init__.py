"""Tests of `supervisor/adapters/kafka/`."""
