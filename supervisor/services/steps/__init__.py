"""Verbs of the product as steps of flows: carried out once per key, for the owner of the flow."""
