"""Tests of `supervisor/core/model/`."""
