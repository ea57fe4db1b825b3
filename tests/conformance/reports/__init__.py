"""Stories of the stores of reports and logs."""
