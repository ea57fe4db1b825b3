"""Duties for reports: the archive of events and audit, and a look at the persisters."""
