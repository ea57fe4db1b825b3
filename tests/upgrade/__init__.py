"""Two releases over one database, one warehouse and the same journals.

Read first: `test_releases.py`.  `28bbf90.tar.xz` is the source of release 0.1.0, made by
`git archive 28bbf90 supervisor tasks alembic pyproject.toml | xz -9`.
"""
