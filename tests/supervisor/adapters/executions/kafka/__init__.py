"""The topics of executions: how they are made, verified, written."""
