"""The console in a real browser, against real overlords: what people see."""
