"""Publishes while leaders die: each starts one execution, and is named by one that coalesces."""
