"""Pages of rows that no page makes: queues that are dead, work of all kinds, the audit log."""
