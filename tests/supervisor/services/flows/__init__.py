"""Tests of the services of flows."""
