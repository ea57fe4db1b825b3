"""Response models of what needs somebody: warnings, and remedies to be offered."""
