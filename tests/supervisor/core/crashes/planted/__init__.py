"""Mistakes that are planted into the core, or into the model of an engine around it."""
