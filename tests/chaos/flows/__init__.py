"""Chaos with flows on Kafka: real processes die, and each step has its effect once."""
