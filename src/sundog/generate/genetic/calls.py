"""Kernels called by address: one loop for every class of queries, compiled once, however many classes there are.

A kernel says what changing one cell of one row does to the answers of one class (forms/base.py). All kernels have one
signature of plain numbers, so the loop calls them through their addresses: a class that a run does not use is never
compiled, a new one compiles nothing but itself, and each is cached by itself. `p` is the address of the ports, which hold
the addresses of the arrays; `opened` makes arrays of them again. No array is handed over, so no reference is counted.
"""

from typing import Any

import numpy as np
from jaxtyping import Float, Int
from numba import carray, njit, types
from numba.core import cgutils
from numba.extending import intrinsic

SIGNATURE = types.float64(*[types.int64] * 6, types.boolean)
kernel = njit(cache=True, nogil=True)
"""kernel(p, h, i, j, a, b, update): the change of loss if row i's atom in column j went from a to b, or make it so."""


def address_of(compiled: Any) -> int:
    """Where a kernel's machine code stands; it is compiled or taken from the cache now, if it was not before."""
    compiled.compile(SIGNATURE)
    made = compiled.overloads[SIGNATURE.args]
    return int(made.library.get_pointer_to_function(made.fndesc.llvm_func_name))


def ports(
    integers: Int[np.ndarray, " any"],
    smalls: Int[np.ndarray, " any"],
    weights: Float[np.ndarray, " any"],
    *,
    rows: Int[np.ndarray, "rows columns"],
    held: Int[np.ndarray, "rows+1 held"],
    residuals: Float[np.ndarray, " answers"],
) -> Int[np.ndarray, " ports"]:
    """The addresses and sizes of what kernels read and change; valid while the arrays live."""
    arrays = (integers, smalls, weights, rows, held, residuals)
    return np.array([number for array in arrays for number in (array.ctypes.data, *array.shape)], dtype=np.int64)


@intrinsic
def _pointer(context: Any, address: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], cgutils.voidptr_t)

    return types.voidptr(types.int64), code


@njit(cache=True, nogil=True, inline="always")
def opened(p: int) -> Any:  # pragma: no cover (compiled)
    """The arrays behind the ports: integers L, small ones S, weights W, atoms of the rows, what is held of them, R."""
    at = carray(_pointer(p), (14,), np.int64)
    return (
        carray(_pointer(at[0]), (at[1],), np.int64),
        carray(_pointer(at[2]), (at[3],), np.int32),
        carray(_pointer(at[4]), (at[5],), np.float64),
        carray(_pointer(at[6]), (at[7], at[8]), np.int32),
        carray(_pointer(at[9]), (at[10], at[11]), np.int32),
        carray(_pointer(at[12]), (at[13],), np.float64),
    )


@intrinsic
def _called(context: Any, address: Any, p: Any, h: Any, i: Any, j: Any, a: Any, b: Any, update: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = context.call_conv.get_function_type(SIGNATURE.return_type, SIGNATURE.args)
        function = builder.inttoptr(args[0], kind.as_pointer())
        status, result = context.call_conv.call_function(
            builder, function, SIGNATURE.return_type, SIGNATURE.args, args[1:]
        )
        with cgutils.if_unlikely(builder, status.is_error):
            context.call_conv.return_status_propagate(builder, status)
        return result

    return types.float64(types.int64, *SIGNATURE.args), code


@njit(cache=True, nogil=True, inline="always")
def walk(calls: Any, rows: Any, i: int, j: int, b: int, update: bool) -> float:  # pragma: no cover (compiled)
    """The change of loss if row i's cell in column j became atom b; with `update` it becomes that.

    Every line of `calls` is a kernel's address, its ports, and the place of its form.
    """
    a, change = int(np.int64(rows[i, j])), 0.0
    for k in range(calls.shape[0]):
        change += _called(calls[k, 0], calls[k, 1], calls[k, 2], i, j, a, b, update)
    if update:
        rows[i, j] = b
    return change
