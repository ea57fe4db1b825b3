"""Kafka and schema registries as a worker asks them; `tasks/worker/` imports it."""
