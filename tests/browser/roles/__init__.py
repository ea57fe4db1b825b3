"""Who calls: what is theirs is all there, and what is foreign is nowhere."""
