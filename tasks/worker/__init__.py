"""The worker process: it carries out what `machine/` decides; `supervisor/app/` starts it."""
