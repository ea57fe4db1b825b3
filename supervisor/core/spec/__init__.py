"""A supervisor's spec: read, checked, compared, pure; every layer may import it."""
