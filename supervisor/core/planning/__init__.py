"""The planner, pure: a snapshot becomes a plan; `control/` carries it out."""
