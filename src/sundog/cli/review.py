"""The prompts of `sundog schema review`. What they do is in domain.review; a page could ask the same."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from sundog.cli.output import tell
from sundog.errors import UserError

if TYPE_CHECKING:
    from sundog.domain.review import Question, Review

CHOICES = (
    "k keep: it is right, and publicly known",
    "b other bounds",
    "c other categories",
    "n cells may be missing",
    "x leave the column out",
    "e edit the field as JSON",
    "l later",
    "q quit",
)


def ask(review: "Review", save: "Callable[[Review], None]") -> "Review":
    """Ask for every open field; what was answered is saved at once, so that quitting loses nothing."""
    tell("CONFIDENTIAL until reviewed. Keep only what is publicly known, whoever is in the table.")
    tell("\n".join(f"  {choice}" for choice in CHOICES))
    questions = review.questions
    for number, question in enumerate(questions, start=1):
        tell(f"\n[{number}/{len(questions)}] {question.name}: {question.declares}\n  {question.why}")
        try:
            answered = _answer(review, question)
        except typer.Abort:
            break
        if answered is None:
            break
        if answered is not review:
            review = answered
            save(review)
    return review


def _answer(review: "Review", question: "Question") -> "Review | None":
    """The review after one answer; the same one if it is put off, None to stop. A wrong answer is asked again."""
    while True:
        choice = typer.prompt("  k, b, c, n, x, e, l or q", default="l").strip().lower()[:1]
        if choice in ("l", "q"):
            return review if choice == "l" else None
        try:
            if choice == "k":
                return review.keep(question.name)
            if choice == "x":
                return review.leave_out(question.name)
            changes = _changes(choice, question)
            if changes is not None:
                return review.change(question.name, changes)
        except (UserError, ValueError) as error:
            tell(f"  {error if isinstance(error, UserError) else 'That is not JSON.'}")


def _changes(choice: str, question: "Question") -> dict[str, Any] | None:
    """The keys that an answer changes; None where the letter is none of the choices."""
    constraints = dict(question.field.get("constraints", {}))
    if choice == "b":
        bounds = {key: _value(typer.prompt(f"  {key}")) for key in ("minimum", "maximum")}
        return {"constraints": {**constraints, **bounds}}
    if choice == "c":
        labels = [label.strip() for label in typer.prompt("  categories, separated by commas").split(",")]
        return {"categories": [label for label in labels if label]}
    if choice == "n":
        return {"constraints": {key: value for key, value in constraints.items() if key != "required"} or None}
    if choice == "e":
        return dict(json.loads(typer.prompt("  keys to change, as a JSON object")))
    return None


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text.strip()


def told(review: "Review", path: Path) -> tuple[dict[str, Any], list[str]]:
    """What is still open, for machines and for people."""
    still = [question.name for question in review.questions]
    lines = [f"{path}: {len(still)} fields wait for review." if still else f"{path}: every field is reviewed."]
    asked = [
        {"name": question.name, "declares": question.declares, "why": question.why} for question in review.questions
    ]
    return {"file": str(path), "reviewed": not still, "questions": asked}, lines
