"""Tests of `supervisor/core/spec/sections/`."""
