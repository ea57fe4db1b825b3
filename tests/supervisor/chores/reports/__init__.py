"""Tests of the duties of the leader that are about reports."""
