"""What is told reaches whoever listens, and nobody else."""

from sundog.progress import listening, tell


def test_the_innermost_listener_hears_and_then_the_outer_one_again():
    outer, inner = [], []
    tell("nobody listens")
    with listening(outer.append):
        tell("one")
        with listening(inner.append):
            tell("two")
        tell("three")
    tell("nobody listens")
    assert (outer, inner) == (["one", "three"], ["two"])


def test_a_listener_is_gone_after_a_failure():
    heard = []
    try:
        with listening(heard.append):
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        tell("afterwards")
    assert heard == []
