"""The duty that makes small published files into larger ones."""
