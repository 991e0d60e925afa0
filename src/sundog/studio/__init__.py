"""The studio: a local page on which a custodian goes from a table to a release. It calls the API, as the command line does.

server.py   one start per person: the port, the token, the second start that finds the first
guard.py    every request: host, origin, token, size, headers
app.py      which address is which page          pages/     one file per step
home.py     where the studio keeps its work       jobs.py, worker.py, work.py   long work, each in a process of its own
"""
