"""Workloads: the questions that should come out right, built by name and combined with +.

>>> from sundog.schema import Schema
>>> schema = Schema.from_json({"fields": [{"name": "a", "type": "boolean"}, {"name": "b", "type": "boolean"}]})
>>> (Workload.marginals(schema, k=1) + Workload.marginals(schema, k=2)).cells
15
"""

from sundog.workload.model import Workload

__all__ = ["Workload"]
