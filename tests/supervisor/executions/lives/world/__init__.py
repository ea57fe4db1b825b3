"""The clock, the lease, the queue and the store that leaders share."""
