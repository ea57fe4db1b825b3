"""Joda formats: what they read and write."""
