"""A fitted state as plain arrays, so that a release opens at once: a tree of known dataclasses in JSON, numbers beside it.

No pickles: what may be rebuilt are the classes in CHECKS, from fields of the right names that pass the check of their class;
arrays are numbers or truth values of declared sizes. A state that holds anything else is not stored. Schema and columns are those of the release.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from jaxtyping import Shaped

from sundog.domain import Categorical, Numeric, Schema
from sundog.domain.axis import Axis
from sundog.domain.rows import Rows
from sundog.errors import UserError
from sundog.generate.genetic.private_gsd import GeneticState
from sundog.generate.graphical.private_pgm import GraphicalState
from sundog.generate.independent import IndependentState
from sundog.generate.linked.linked_search import LinkedState
from sundog.generate.particles.privpgd import ParticleState
from sundog.generate.polished import PolishedState
from sundog.generate.pooled.pooled_search import PooledState
from sundog.generate.projection.gem import NetworkState
from sundog.generate.projection.soft_table import SoftTable
from sundog.generate.stored_checks import CHECKS

STATES: tuple[type, ...] = (
    IndependentState,
    GeneticState,
    GraphicalState,
    ParticleState,
    PolishedState,
    PooledState,
    NetworkState,
    SoftTable,
    LinkedState,
)
_CLASSES = {kind.__name__: kind for kind in CHECKS}
KINDS = "biuf"
"""Arrays of truth values, whole numbers and floats."""
DEEPEST = 12

Array = Shaped[np.ndarray, " ..."]


class NotStorable(UserError):
    """A state that cannot be stored, or a stored one that cannot be rebuilt."""

    def __init__(self, why: str) -> None:
        super().__init__(f"the stored model cannot be used ({why}); remove fitted.npz, and it is fitted again.")


def stored(state: Any, schema: Schema) -> tuple[Any, list[Array]]:
    """The tree as plain JSON, and the arrays that it refers to by number."""
    arrays: list[Array] = []
    return _stored(state, schema, arrays), arrays


def rebuilt(tree: Any, arrays: Sequence[Array], schema: Schema) -> Any:
    """The state that `stored` described; refuses whatever that could not have written."""
    try:
        made = _rebuilt(tree, arrays, schema, depth=0)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise NotStorable(type(error).__name__) from None
    if type(made) not in STATES:
        raise NotStorable("no state")
    return made


def _stored(value: Any, schema: Schema, arrays: list[Array]) -> Any:
    if isinstance(value, Schema | Categorical | Numeric | Axis):
        return _stored_fact(value, schema)
    if isinstance(value, Rows):
        return {"rows": _stored_parts({k: getattr(value, k) for k in ("schema", "codes", "weights")}, schema, arrays)}
    if is_dataclass(value) and type(value).__name__ in _CLASSES:
        parts = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
        return {"class": type(value).__name__, "fields": _stored_parts(parts, schema, arrays)}
    if isinstance(value, Mapping):
        return {"map": [[_stored(k, schema, arrays), _stored(v, schema, arrays)] for k, v in value.items()]}
    if isinstance(value, tuple | list):
        return {type(value).__name__: [_stored(part, schema, arrays) for part in value]}
    return _stored_number(value, arrays)


def _stored_parts(parts: Mapping[str, Any], schema: Schema, arrays: list[Array]) -> dict[str, Any]:
    return {name: _stored(part, schema, arrays) for name, part in parts.items()}


def _stored_fact(value: Schema | Categorical | Numeric | Axis, schema: Schema) -> dict[str, Any]:
    """What the release's own schema says, by name."""
    if isinstance(value, Axis):
        return {"axis": value.to_json()}
    if isinstance(value, Schema) and value == schema:
        return {"schema": True}
    if not isinstance(value, Schema) and value in schema.columns:
        return {"column": value.name}
    raise NotStorable("another schema")


def _stored_number(value: Any, arrays: list[Array]) -> dict[str, Any]:
    if value is None or isinstance(value, bool | int | float | str):
        return {"value": value}
    if not hasattr(value, "__array__"):
        raise NotStorable(type(value).__name__)
    array = np.asarray(value)
    if array.dtype.kind not in KINDS:
        raise NotStorable("an array of another kind")
    small = array
    if array.dtype.kind == "i" and array.size:
        small = array.astype(np.result_type(np.min_scalar_type(array.min()), np.min_scalar_type(array.max())))
    arrays.append(small)
    return {"array": len(arrays) - 1, "type": array.dtype.str, "shape": list(array.shape)}


def _rebuilt(tree: Any, arrays: Sequence[Array], schema: Schema, *, depth: int) -> Any:
    if depth > DEEPEST:
        raise NotStorable("too deep")

    def inner(part: Any) -> Any:
        return _rebuilt(part, arrays, schema, depth=depth + 1)

    readers: dict[str, Callable[[Any], Any]] = {
        "value": _rebuilt_value,
        "schema": lambda _: schema,
        "column": schema.column,
        "axis": lambda said: Axis.from_json(said, schema.column(said["column"])),
        "rows": lambda said: Rows(inner(said["schema"]), tuple(inner(said["codes"])), inner(said["weights"])),
        "class": lambda said: _rebuilt_class(said, {name: inner(part) for name, part in tree["fields"].items()}),
        "map": lambda said: {inner(key): inner(value) for key, value in said},
        "tuple": lambda said: tuple(inner(part) for part in said),
        "list": lambda said: [inner(part) for part in said],
        "array": lambda said: _rebuilt_array(arrays[said], tree),
    }
    kind = next(iter(tree))
    return readers[kind](tree[kind])


def _rebuilt_value(said: Any) -> Any:
    if not (said is None or isinstance(said, bool | int | float | str)):
        raise NotStorable("a value of another kind")
    return said


def _rebuilt_class(name: str, parts: Mapping[str, Any]) -> Any:
    made = _CLASSES[name]
    if set(parts) != {field.name for field in fields(made) if field.init}:
        raise NotStorable("other fields")
    rebuilt_part = made(**parts)
    if not CHECKS[made](rebuilt_part):
        raise NotStorable("values that it could not have")
    return rebuilt_part


def _rebuilt_array(array: Array, said: Mapping[str, Any]) -> Array:
    wanted = np.dtype(said["type"])
    if wanted.kind not in KINDS or array.dtype.kind not in KINDS or list(array.shape) != said["shape"]:
        raise NotStorable("an array of another kind or size")
    return array.astype(wanted)
