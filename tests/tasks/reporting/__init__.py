"""Tests of the records of reports."""
