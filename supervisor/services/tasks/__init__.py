"""Services of tasks and workers: submit, stop, disable; their logs and reports."""
