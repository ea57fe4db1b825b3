"""Commands on supervisors: apply, infer, reset, status, watch."""
