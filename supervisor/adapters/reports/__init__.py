"""Adapters of the stores of reports and logs, for composition roots only; `schema` first."""
