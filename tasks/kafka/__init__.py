"""Clients of Kafka and of schema registries, for workers; `tasks/worker/` imports it."""
