"""Mistakes that somebody might have made."""
