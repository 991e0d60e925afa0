"""The law of linked tables on many random databases: `python tests/privacy/linked_audit.py [--cases 10000]`, run by `make audit`.

A case is four databases: others, one unit, both, and others with the unit changed. Packs of cases (linked_law.py) are counted as
lists; of every other fast source, the rows, keys and hashes must be those of the lists bit for bit, so that its answers are the same.
What breaks a law is named by what its keys hold and its seed, and makes the exit code 1. `--faults` says instead which seeds see each
of the faults in mutation/named.toml, for test_linked_faults.py.
"""

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
CASES = 25
HOLDERS = ("text", "typed", "mixed", "python")
SLOW = ("PostgreSQL",)


def main():
    """Try packs until there were enough cases; exit code 1 if a law was broken."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=1000, help="the first seed")
    parser.add_argument("--faults", action="store_true", help="say which seeds see each fault")
    given = parser.parse_args()
    seeds = range(given.first, given.first + -(-given.cases // (CASES * len(HOLDERS))))
    return seen(seeds) if given.faults else tried(seeds)


def tried(seeds):
    """Every pack in every fast source that can hold it."""
    counts, wrong, begun = Counter(), [], time.monotonic()
    for seed in seeds:
        for holder in HOLDERS:
            counts.update(one_pack(holder, seed, wrong))
        if (seed + 1) % 10 == 0:
            print(f"{counts['lists']} databases, {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)
    print("\n".join(f"{number:8} {form}" for form, number in counts.items()))
    print("\n".join(wrong) or "no law was broken")
    return 1 if wrong else 0


def one_pack(holder, seed, wrong):
    """How many databases were looked at in each source; what they break is added to `wrong`."""
    from linked_forms import FORMS, holds
    from privacy.linked_law import broken, encoded, pack, same, sliced, totals

    made, counts = pack(seed, CASES, holder=holder), Counter()
    with tempfile.TemporaryDirectory() as place:
        lists = encoded(made, "lists", Path(place))
        found = [totals(made, each) for each in sliced(made, lists)]
        wrong += [f"lists {holder} {seed}: {laws}" for laws in [set(broken(made, found))] if laws]
        counts["of lists refused"] = sum(each is None for each in found)
        for form in FORMS:
            if form not in SLOW and holds(form, made.shape):
                counts[form] += len(found)
                if form != "lists" and not same(lists, encoded(made, form, Path(place))):
                    wrong.append(f"{form} {holder} {seed}: it differs from lists")
    return counts


def seen(seeds):
    """For every fault the first packs of the short form's size that see it."""
    from mutation.faults import fault_in, named
    from privacy.linked_law import pack
    from privacy.test_linked_laws import CASES as FEW

    for fault in (each for each in named() if each.name.startswith("linked: ")):
        found = []
        with fault_in(fault), tempfile.TemporaryDirectory() as place:
            for seed, holder in ((seed, holder) for seed in seeds for holder in HOLDERS):
                made = pack(seed, FEW, holder=holder)
                found += [f"{holder} {seed}"] if _sees(made, Path(place)) else []
                if len(found) == 2:
                    break
        print(f"{fault.name}: {', '.join(found) or 'none'}", flush=True)
    return 0


def _sees(made, place):
    from privacy.linked_law import answers, broken

    try:
        return any(broken(made, answers(made, "lists", place)))
    except AssertionError:
        return True


if __name__ == "__main__":
    sys.exit(main())
