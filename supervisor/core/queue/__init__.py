"""Events of the durable queues, pure; the event queue and the repositories import it."""
