"""The topics of executions on Kafka: made and verified, written in transactions, restored."""
