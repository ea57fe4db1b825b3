"""Conversion of parsed records to columns, and the reject reasons; the engine imports it."""
