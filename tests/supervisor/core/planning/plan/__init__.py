"""What the planner decides, a file per rule."""
