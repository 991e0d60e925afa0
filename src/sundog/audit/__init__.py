"""Attacks on our own claims: on the mechanism (does it keep what it promises?) and on one release (can someone be found?).

Pure functions of made-up tables, released values, synthetic rows and, for a release, of real rows that came through the door for
disclosures. The runs of the pipeline and that door are in api/audit_mechanism.py and api/audit_release.py.
"""
