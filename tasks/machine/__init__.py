"""The state machine of a task, pure: (state, event) to (state, effects); the worker imports it."""
