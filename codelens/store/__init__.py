"""SQLite storage: contents, postings, views, leases. The one package that imports apsw.

Functions here take a `Database`; those that write say so and run inside `Database.write`.
"""
