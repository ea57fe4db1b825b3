"""The history of lifecycle events, and its stream."""
