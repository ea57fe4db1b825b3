"""The product as its users run it: real processes, real Kafka, real Spark."""
