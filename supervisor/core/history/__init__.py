"""Lifecycle events, operations, lag and rates, pure; every other layer may import the package."""
