"""What is not needed is not loaded: memory and start-up time."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("module", "without"),
    [
        ("sundog.private.curator", ("jax", "sklearn", "polars")),
        ("sundog.cli.app", ("jax", "numba", "numpy")),
        ("sundog.methods.recipes", ("jax", "optax", "mbi", "sklearn")),
    ],
)
def test_heavy_libraries_wait_until_they_are_needed(module, without):
    code = f"import sys, {module}; print([name for name in {without!r} if name in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert shown.strip() == "[]"


def test_drawing_noise_loads_nothing_but_opendp_itself():
    code = (
        "import sys, numpy; from sundog.private import noise; noise.add_gaussian(numpy.zeros(2, dtype=int), 3.0);"
        "print([name for name in ('sklearn', 'polars', 'jax', 'mbi') if name in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert shown.strip() == "[]"


@pytest.mark.parametrize("generator", ["Particles(particles=100, epochs=2, steps=2)", "Graphical()"])
def test_these_generators_never_load_jax_on_a_processor(generator):
    code = f"""
import sys
import numpy as np
from sundog.generate import Graphical, Particles
from sundog.random.keys import key_of
from sundog.queries import Marginal
from sundog.released import Guarantee, Measurement, Released
from sundog.domain import Schema
from sundog.domain.unit import PrivacyUnit

field = dict(type="string", constraints=dict(enum=["a", "b"], required=True))
schema = Schema.from_json(dict(fields=[field | dict(name=name) for name in "xyz"]))
query = Marginal.of(schema, "x", "y", "z")
measured = Measurement(query, np.arange(8), 1.0, "paid")
released = Released(schema, (measured,), Guarantee(PrivacyUnit("replace"), "gaussian", 1.0), public_rows=28)
generator = {generator}
state = generator.fit(key_of(1), generator.init(key_of(0), schema), released=released)
generator.sample(key_of(2), state, rows=10)
print([name for name in ("jax", "optax", "mbi", "sklearn") if name in sys.modules])
"""
    shown = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert shown.strip() == "[]"
