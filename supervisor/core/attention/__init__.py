"""What needs somebody and what helps, pure; may import every other package of the core."""
