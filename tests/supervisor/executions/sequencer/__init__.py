"""The owner of a partition, over topics in memory."""
