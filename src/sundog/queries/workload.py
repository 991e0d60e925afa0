"""Workload: the questions that should come out right, queries with weights, built by name and combined with +.

Built from public values only: the schema, a seed, released one-way measurements. The builders stand with their query
classes. A workload file (TOML) is a list of [[queries]], each with a `kind`, its options, and an optional `weight`.

>>> schema = Schema.from_json({"fields": [{"name": "a", "type": "boolean"}, {"name": "b", "type": "boolean"}]})
>>> (Workload.marginals(schema, k=1) + Workload.marginals(schema, k=2)).cells
15
"""

import inspect
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce, wraps
from operator import add
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, get_args

from sundog.domain import Schema
from sundog.domain.rows import Rows
from sundog.errors import UserError
from sundog.json_files import read_text
from sundog.queries import Query
from sundog.queries.at_least import at_least
from sundog.queries.conditional import conditional_ranges, conditional_thresholds
from sundog.queries.halfspace import halfspaces
from sundog.queries.marginal import conditional_marginals, marginals
from sundog.queries.moment import moments
from sundog.queries.parity import parities
from sundog.queries.ranges import prefixes, ranges
from sundog.queries.tree import trees
from sundog.sizes import whole_number

Options = ParamSpec("Options")
MOST_COUNT = 10**6
LIGHTEST, HEAVIEST = 1e-6, 1e6
"""Beyond these a query would get all of the budget, or none of it."""
WEIGHTS = f"from {LIGHTEST:g} to {HEAVIEST:g}"
"""More queries, directions or columns than any workload can be fitted with."""


def _workload(
    build: Callable[Concatenate[Schema, Options], Sequence[Query]],
) -> Callable[Concatenate[Schema, Options], "Workload"]:
    """The same builder, its queries as a workload in which all count alike."""
    parameters = inspect.signature(build).parameters

    @wraps(build)
    def built(schema: Schema, /, *args: Options.args, **options: Options.kwargs) -> "Workload":
        _check_counts(parameters, options)
        queries = build(schema, *args, **options)
        return Workload(schema, tuple(queries), (1.0,) * len(queries))

    return built


@dataclass(frozen=True, eq=False)
class Workload:
    """Queries and how much each counts."""

    schema: Schema
    queries: tuple[Query, ...]
    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.queries:
            raise UserError("workload: it holds no query; the schema may lack columns of the kind it asks for.")
        if len(self.weights) != len(self.queries) or not all(LIGHTEST <= weight <= HEAVIEST for weight in self.weights):
            raise UserError(f"workload: every query needs a weight above 0, {WEIGHTS}.")

    def __add__(self, other: "Workload") -> "Workload":
        if self.schema != other.schema:
            raise UserError("workload: two workloads over different schemas cannot be combined.")
        return Workload(self.schema, self.queries + other.queries, self.weights + other.weights)

    def __len__(self) -> int:
        return len(self.queries)

    @property
    def cells(self) -> int:
        """The number of answers."""
        return sum(query.size for query in self.queries)

    def weighted(self, weight: float) -> "Workload":
        """The same queries, all counting this many times as much."""
        return replace(self, weights=tuple(weight * each for each in self.weights))

    marginals = staticmethod(_workload(marginals))
    prefixes = staticmethod(_workload(prefixes))
    ranges = staticmethod(_workload(ranges))
    trees = staticmethod(_workload(trees))
    halfspaces = staticmethod(_workload(halfspaces))
    conditional_marginals = staticmethod(_workload(conditional_marginals))
    conditional_ranges = staticmethod(_workload(conditional_ranges))
    conditional_thresholds = staticmethod(_workload(conditional_thresholds))
    at_least = staticmethod(_workload(at_least))
    parities = staticmethod(_workload(parities))
    moments = staticmethod(_workload(moments))

    @staticmethod
    def load(path: str | Path, schema: Schema, *, reference: Rows | None = None) -> "Workload":
        """A workload from a TOML file (`sundog help workloads`)."""
        text = read_text(path, place=f"workload file {str(path)!r}")
        try:
            document = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise UserError(f"workload file {str(path)!r} is not TOML: {error}.") from None
        except (RecursionError, ValueError):  # the latter: a number of thousands of digits
            raise UserError(f"workload file {str(path)!r}: it is nested too deep, or a number is too long.") from None
        entries = document.get("queries")
        if not isinstance(entries, list) or not entries or set(document) != {"queries"}:
            raise UserError(f"workload file {str(path)!r}: it must be a list of [[queries]] and nothing else.")
        return reduce(add, (_entry(entry, number, schema, reference) for number, entry in enumerate(entries, 1)))


KINDS: Mapping[str, Callable[..., Workload]] = {
    "marginals": Workload.marginals,
    "prefixes": Workload.prefixes,
    "ranges": Workload.ranges,
    "trees": Workload.trees,
    "halfspaces": Workload.halfspaces,
    "conditional_marginals": Workload.conditional_marginals,
    "conditional_ranges": Workload.conditional_ranges,
    "conditional_thresholds": Workload.conditional_thresholds,
    "at_least": Workload.at_least,
    "parities": Workload.parities,
    "moments": Workload.moments,
}
"""The workloads that files and the command line can name."""


def _entry(entry: Any, number: int, schema: Schema, reference: Rows | None) -> Workload:
    place = f"workload, [[queries]] number {number}"
    if not isinstance(entry, Mapping):
        raise UserError(f"{place}: found {entry!r}; each must be a table with a kind.")
    options = dict(entry)
    kind, weight = options.pop("kind", None), options.pop("weight", 1.0)
    if not isinstance(kind, str) or kind not in KINDS:
        raise UserError(f"{place}: kind is {kind!r}; allowed are {', '.join(KINDS)}.")
    if not _is_number(weight) or not LIGHTEST <= weight <= HEAVIEST:
        raise UserError(f"{place}: weight is {str(weight)[:30]}; it must be a number above 0, {WEIGHTS}.")
    parameters = inspect.signature(KINDS[kind]).parameters
    allowed = [name for name in parameters if name not in ("schema", "reference")]
    for name, value in options.items():
        if name not in allowed:
            raise UserError(f"{place}: {kind} has no option {name!r}; its options are {', '.join(allowed)}.")
        _check_option(f"{place}: {name}", value, parameters[name].annotation)
    if reference is not None and "reference" in parameters:
        options["reference"] = reference
    try:
        return KINDS[kind](schema, **options).weighted(weight)
    except UserError as error:
        raise UserError(f"{place}: {error}") from None


def _check_counts(parameters: Mapping[str, inspect.Parameter], options: Mapping[str, Any]) -> None:
    """Whole numbers where the builder's own annotation asks for one."""
    for name, value in options.items():
        annotation = parameters[name].annotation if name in parameters else None
        optional = type(None) in get_args(annotation)
        if int in (annotation, *get_args(annotation)) and not (optional and value is None):
            whole_number(name, value, least=0, most=None if name == "seed" else MOST_COUNT)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _check_option(option: str, value: Any, annotation: Any) -> None:
    """Whether a value is a list of texts, where the builder's own annotation does not ask for a whole number."""
    if int in (annotation, *get_args(annotation)):
        return
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise UserError(f"{option} is {value!r}; it must be a list of texts.")
