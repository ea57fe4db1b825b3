"""Expressions with their meaning, as tables of cases."""
