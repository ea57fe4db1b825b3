"""Flows at work: the parts of an overlord that run them, and the executor."""
