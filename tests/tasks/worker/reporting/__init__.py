"""What a worker keeps and reports of its tasks."""
