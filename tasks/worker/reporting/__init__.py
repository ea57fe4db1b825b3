"""What a worker says of its tasks and keeps: their logs, and records of them for a report store."""
