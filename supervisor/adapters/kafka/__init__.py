"""Kafka adapters: topic states and the topic probe; only composition roots import this package."""
