"""CEL's own parts: its signs, and the types of its expressions."""
