"""The console as it is built: its sources are checked, its size is bounded, it is shipped."""
