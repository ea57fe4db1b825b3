"""The databases of executions: their kinds, their migrations, and rows of before one."""
