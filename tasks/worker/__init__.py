"""The worker process, which carries out what `machine/` decides; `supervisor/app/` starts it."""
