"""Workers that die, or run out of disk, at each point of their work."""
