"""Commands for flows."""
