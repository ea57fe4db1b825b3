"""Settings of all processes: names, defaults, units; `cli/`, `app/` and `verify/` import them."""
