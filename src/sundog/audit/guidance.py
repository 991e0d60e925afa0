"""The three risks that the European guidance on anonymisation names (WP 216): singling out, linkability, inference.

As in Anonymeter (Giomi et al. 2023), each is an attack by means of the synthetic rows, counted over targets, on members and on outsiders.
Singling out: a description (a value, or a range of numbers, in some columns) that one synthetic row alone fits is a guess that one
person alone fits it; a target is singled out if such a description fits it and no other target of its kind. All columns, or a random
half of them. Linkability: who holds half of the columns of some people, and the others of the same people elsewhere, links two
records where their closest synthetic rows meet. Inference: the secret of a target is guessed to be that of the closest
synthetic row, by the columns that are no secret. A number is guessed if it falls into the same of 32 equal ranges.

The baseline has no relations: descriptions from independent columns, random links, the most frequent value.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Int

from sundog.audit.game import Attack, Game, Won, rates
from sundog.audit.nearness import nearest
from sundog.domain.rows import Rows
from sundog.evaluate.base import cells_of
from sundog.evaluate.baselines import independent_columns
from sundog.random.keys import fold_in, permutation

NEAREST = 10
"""Two records are linked if one of this many closest synthetic rows is the same."""

Keys = Int[np.ndarray, " rows"]


def singling_out(game: Game) -> list[Attack]:
    """By all columns, and by a random half of them."""
    columns = len(game.synthetic.codes)
    half = np.sort(permutation(fold_in(game.key, 10), columns)[: (columns + 1) // 2]).tolist()
    naive = independent_columns(fold_in(game.key, 11), game.synthetic)
    found = []
    for name, chosen in (("by all columns", list(range(columns))), ("by half of the columns", half)):
        won = [_isolated(rows, game.synthetic, chosen) for rows in game.targets]
        found.append(
            Attack(
                "Singling out",
                name,
                f"A description in {len(chosen)} columns that one synthetic row alone fits also fits one person alone.",
                baseline=float(_isolated(game.members, naive, chosen).mean()),
                **rates(won),
            )
        )
    return found


def linkability(game: Game) -> list[Attack]:
    """Which halves of records lead to the same synthetic row; none where there is one column only."""
    order = permutation(fold_in(game.key, 12), len(game.synthetic.codes)).tolist()
    halves = order[: len(order) // 2], order[len(order) // 2 :]
    if not halves[0]:
        return []
    won = [_linked(rows, game.synthetic, halves) for rows in game.targets]
    count, kept = len(game.synthetic), min(NEAREST, len(game.synthetic))
    about = f"{len(halves[0])} columns of a person and the {len(halves[1])} others, held apart, lead to the same synthetic row."
    return [
        Attack("Linkability", "two halves of a record", about, baseline=1 - (1 - kept / count) ** kept, **rates(won))
    ]


def inference(game: Game, secrets: Sequence[str]) -> list[Attack]:
    """The secrets, one after the other."""
    found = []
    schema = game.synthetic.schema
    for secret in secrets:
        place = schema.position(secret)
        axis = cells_of(schema)[place]
        known = [column for column in range(len(schema.columns)) if column != place]
        ours = game.synthetic.cells(axis)
        won = [ours[nearest(rows, game.synthetic, known)[:, 0]] == rows.cells(axis) for rows in game.targets]
        usual = np.bincount(ours).argmax()
        found.append(
            Attack(
                "Inference",
                f"guess {secret}",
                f"{secret} of a person is guessed from the closest synthetic row by all other columns.",
                baseline=float((game.members.cells(axis) == usual).mean()),
                **rates(won),
            )
        )
    return found


def _isolated(targets: Rows, synthetic: Rows, columns: Sequence[int]) -> Won:
    """Targets whose description one synthetic row has, and no other target."""
    both = _keys(targets, synthetic, columns)
    ours, theirs = both[: len(targets)], both[len(targets) :]
    among_targets, among_rows = (np.bincount(part, minlength=int(both.max()) + 1) for part in (ours, theirs))
    return (among_rows[ours] == 1) & (among_targets[ours] == 1)


def _keys(targets: Rows, synthetic: Rows, columns: Sequence[int]) -> Keys:
    """A number per description: equal where all these columns are in the same cell."""
    axes = cells_of(synthetic.schema)
    cells = [np.concatenate([rows.cells(axes[column]) for rows in (targets, synthetic)]) for column in columns]
    found = np.zeros(len(cells[0]), dtype=np.int64)
    for each in cells:
        found = np.unique(found * (int(each.max()) + 1) + each, return_inverse=True)[1].ravel()
    return found


def _linked(targets: Rows, synthetic: Rows, halves: tuple[list[int], list[int]]) -> Won:
    left, right = (nearest(targets, synthetic, columns, count=NEAREST) for columns in halves)
    return (left[:, :, None] == right[:, None, :]).any(axis=(1, 2))
