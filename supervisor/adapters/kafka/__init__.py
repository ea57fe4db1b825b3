"""Kafka behind its ports: offsets and looks at topics; composition roots alone import it."""
