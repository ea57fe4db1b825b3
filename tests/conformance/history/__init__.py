"""Stories of lifecycle events, operations and samples."""
