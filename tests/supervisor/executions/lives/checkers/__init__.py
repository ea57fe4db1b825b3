"""What must hold of rows, gates, starts and reruns."""
