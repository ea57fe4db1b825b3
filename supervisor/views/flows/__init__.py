"""Answers about flows and their executions."""
