"""Durable event queues: deferred work that survives any crash, in order, one consumer per queue.

Read `core/queue/events.py` (the stored rows), then `handling.py` (the interface of a handler), then
`queues.py` (how queues are opened and run).
"""
