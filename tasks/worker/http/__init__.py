"""The worker's control API and its metrics; `tasks/worker/` imports it."""
