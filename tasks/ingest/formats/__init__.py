"""Parsing of a record's bytes to fields, one file per input format; `decode/` imports it."""
