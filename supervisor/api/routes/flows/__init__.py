"""Routes of flows and of their executions."""
