"""The sender: what tasks report waits here, on disk, until the store has it."""
