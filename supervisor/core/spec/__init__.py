"""Reading, checking and comparing specs of supervisors; pure, and importable by every layer."""
