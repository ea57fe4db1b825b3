"""Verbs of people and what they may ask; the API and composition roots import them."""
