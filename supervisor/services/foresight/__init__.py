"""Dry runs of verbs: each looks at the rows, and the core works out what the verb would do."""
