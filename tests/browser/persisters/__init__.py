"""Tests of pages about persisters and executors, and about what they could not work in."""
