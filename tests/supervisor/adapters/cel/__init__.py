"""Tests of the types of expressions."""
