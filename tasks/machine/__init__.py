"""A task as a state machine, pure: (state, event) to (state, effects); the worker imports it."""
