"""The tests: `supervisor/core/` first (what is decided), then `simulation/` (what must hold).

`supervisor/` and `tasks/` mirror the product, a folder per folder of its own; the others go by
what they need: conformance, integration, chaos, migration, security, tidy.
"""
