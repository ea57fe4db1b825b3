"""What goes wrong in a run: faults drawn from its seed, stories, storms."""
