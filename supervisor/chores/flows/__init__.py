"""What the leader does for flows: times that come, and what follows from them."""
