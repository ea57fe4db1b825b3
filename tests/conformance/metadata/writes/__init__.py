"""Stories of writes, each of which a rival of another term overtakes once."""
