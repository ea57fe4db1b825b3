"""The API as its description tells it, asked by schemathesis: `python -m tests.contract`."""
