"""The persister as a process, over a real broker and a real database."""
