"""The tests: `core/` first (what is decided), then `simulation/` (what must hold).

Folders go by what they need: pure, conformance, edges, integration, chaos, migration, tidy.
"""
