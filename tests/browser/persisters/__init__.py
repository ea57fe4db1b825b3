"""Tests of pages about persisters, and about what they could not store."""
