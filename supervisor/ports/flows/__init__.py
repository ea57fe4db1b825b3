"""Ports to what runs flows: their store, their executions, their triggers, their topics."""
