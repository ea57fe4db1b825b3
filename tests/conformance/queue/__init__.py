"""Stories of the event queues' rows."""
