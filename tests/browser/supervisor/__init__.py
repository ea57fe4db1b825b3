"""The page of one supervisor: its tabs, and the dialogs that set offsets."""
