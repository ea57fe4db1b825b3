"""The command line, against a real HTTP server with prepared answers.

Read first: `overlord.py` (that server) and `supervisor/test_supervisors.py`.
"""
