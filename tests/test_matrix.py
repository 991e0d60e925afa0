"""A run of the matrix that ends without a word has failed; an exit code of 0 is not enough."""

import sys

import pytest

import matrix

pytestmark = pytest.mark.long


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("pass", "passed, 1 passed"),
        ("assert False", "FAILED: exit code 1, 1 failed; see"),
        ("import os; os._exit(0)", "FAILED: exit code 0, before the tests were counted"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "FAILED: killed by SIGKILL, before the tests were"),
        ("import ctypes; ctypes.string_at(0)", "FAILED: killed by SIGSEGV, before the tests were counted"),
        ("import pytest; pytest.exit('over', returncode=0)", "FAILED: exit code 0, before the tests were counted"),
    ],
)
def test_what_became_of_a_run(tmp_path, body, found):
    (tmp_path / "test_one.py").write_text(f"def test_one():\n    {body}\n")
    assert matrix.tried(sys.executable, [tmp_path / "test_one.py"], folder=tmp_path).startswith(found)


def test_every_environment_has_its_own_kernels(tmp_path):
    body = f"import os; assert os.environ['NUMBA_CACHE_DIR'] == {str(tmp_path / 'kernels')!r}"
    (tmp_path / "test_one.py").write_text(f"def test_one():\n    {body}\n")
    assert matrix.tried(sys.executable, [tmp_path / "test_one.py"], folder=tmp_path) == "passed, 1 passed"
