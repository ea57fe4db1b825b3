"""The rows of the metadata database as values, pure; imports only `values` and `spec`."""
