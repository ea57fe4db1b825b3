"""Ten faults of operation, each seen on Home and left by its remedy."""
