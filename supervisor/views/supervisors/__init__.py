"""Answers about supervisors: their specs, and what a change of them would do."""
