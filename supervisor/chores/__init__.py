"""Duties of the leader, one file each; composition roots and services import them."""
