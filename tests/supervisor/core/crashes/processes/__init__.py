"""The simulated processes: each is a row of steps between which it can die or freeze."""
