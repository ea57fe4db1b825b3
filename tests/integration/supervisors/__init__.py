"""Supervisors from their first record to their end, and the tasks that they have."""
