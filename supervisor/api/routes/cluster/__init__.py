"""Routes of the overlord as a whole: audit, events, metrics, queues, status."""
