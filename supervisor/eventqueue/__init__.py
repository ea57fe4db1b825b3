"""Deferred work that survives any crash: durable queues, each with one consumer, in order.

Read `core/queue/events.py` (what is stored), then `handling.py` (what a handler is told and
answers), then `queues.py` (how queues are opened and run).
"""
