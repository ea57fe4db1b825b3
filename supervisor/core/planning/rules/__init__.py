"""The rules of the planner, one file each, pure; `plan.py` alone calls them."""
