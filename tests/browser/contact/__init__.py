"""Pages while overlord, Kafka or the browser itself are away, and after it."""
