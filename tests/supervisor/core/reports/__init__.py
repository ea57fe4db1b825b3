"""Tests of how the persister decides."""
