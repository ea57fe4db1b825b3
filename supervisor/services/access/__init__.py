"""Access: authentication, table ownership and idempotency keys."""
