"""Small random changes of JSON documents, texts and bytes: what a mistaken or hostile hand may do to a file."""

import copy
import math

NASTY = (
    None,
    True,
    False,
    0,
    -1,
    1,
    2,
    1.5,
    -0.0,
    math.nan,
    math.inf,
    -math.inf,
    1e308,
    5e-324,
    2**31,
    2**53 + 1,
    2**63 - 1,
    -(2**63),
    2**64,
    10**20,
    10**400,
    "",
    " ",
    "0",
    "NaN",
    "\u0000",
    "\u200b",
    "a" * 10_000,
    "'; DROP TABLE entries; --",
    "{{7*7}}",
    "../../etc",
    [],
    {},
    [[]],
    [None],
    [0] * 1000,
    {"": None},
    "2020-02-30",
    "9999-12-31",
    "%Y-%m-%d",
    "(a+)+$",
    "DEEP",
)
"""\"DEEP\" stands for lists within lists, deeper than any parser goes; it is put in when the file is written."""


def mutate(random, document, changes=3):
    """A copy with one to `changes` random changes."""
    made = copy.deepcopy(document)
    for _ in range(random.randint(1, changes)):
        holder, key = _place(random, made)
        if holder is None:
            return random.choice(NASTY)
        _change(random, holder, key)
    return made


def _place(random, document):
    """A random container of the document and one of its keys; deeper ones are as likely as shallow ones."""
    holders = []
    stack = [document]
    while stack:
        node = stack.pop()
        if isinstance(node, dict | list) and node:
            holders.append(node)
            stack += node.values() if isinstance(node, dict) else node[:50]
    if not holders:
        return None, None
    holder = random.choice(holders)
    return holder, random.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))


def _change(random, holder, key):
    what = random.randrange(9)
    value = holder[key]
    if what <= 2:
        holder[key] = copy.deepcopy(random.choice(NASTY))
    elif what == 3:
        del holder[key]
    elif what == 4 and isinstance(value, int | float) and not isinstance(value, bool):
        holder[key] = random.choice(
            [-value, value + 1, value - 1, value * 10**6, value / 2 if abs(value) < 1e300 else 0.5, str(value)]
        )
    elif what == 5 and isinstance(value, str):
        place = random.randint(0, len(value))
        holder[key] = value[:place] + random.choice(["\n", "x", "é", "\u202e", '"', "%", "[", "\ud800"]) + value[place:]
    elif what == 6 and isinstance(holder, list):
        holder.insert(random.randint(0, len(holder)), copy.deepcopy(random.choice(holder)))
    elif what == 7 and isinstance(holder, dict):
        other = random.choice(list(holder))
        holder[key], holder[other] = holder[other], holder[key]
    elif what == 8:
        nested = value
        for _ in range(random.choice([1, 3, 100])):
            nested = [nested]
        holder[key] = nested
    else:
        holder[key] = copy.deepcopy(random.choice(NASTY))


def mutate_bytes(random, content, changes=8):
    """A copy with a few bytes changed, removed, repeated or added; or cut short."""
    made = bytearray(content)
    for _ in range(random.randint(1, changes)):
        place = random.randrange(len(made) + 1)
        what = random.randrange(6)
        if what == 0:
            made[place : place + 1] = bytes([random.randrange(256)])
        elif what == 1:
            del made[place : place + random.choice([1, 4, 64])]
        elif what == 2:
            made[place:place] = made[place : place + random.choice([1, 8, 512])]
        elif what == 3:
            made[place:place] = random.choice(
                [b"\x00", b"\xff\xfe", b'"', b"\n", b",", b"\xc3(", b"\xef\xbb\xbf", b"\r"]
            )
        elif what == 4:
            made[place : place + 4] = random.choice([b"\xff" * 4, b"\x7f" * 4, b"\x00" * 4])
        else:
            del made[place:]
    return bytes(made)
