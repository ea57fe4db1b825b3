"""Bytes of a record to fields, a file per input format; `decode/` imports it."""
