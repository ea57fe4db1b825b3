"""The rows of the metadata database as values, pure; values and spec alone lie below."""
