"""Routes of flows and executions, over a real engine and its database."""
