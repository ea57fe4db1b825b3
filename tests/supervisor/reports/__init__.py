"""The persister: its pipeline over stores in memory that fail as a test says, and its intake."""
