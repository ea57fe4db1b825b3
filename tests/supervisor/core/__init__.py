"""Tests of the pure core: no process, no database, milliseconds."""
