"""The pages of audits: what attacks on made-up neighbours proved about methods, and what attacks on one release reached.

Functions of the audits' JSON; they hold no rows and compute nothing. The page of a release is CONFIDENTIAL and says so first.
"""

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from sundog.report.lanes import Lane, lane_chart
from sundog.report.template import render

Document = Mapping[str, Any]


def mechanism_page(document: Document) -> str:
    """The page of an audit of methods."""
    most = 1.05 * max(
        max(each["claim"]["mu"], *(attack["muAtLeast"] for attack in each["attacks"].values()))
        for each in document["methods"]
    )
    charts = [
        (words, Markup(_mechanism_chart(document, attack, most=most)))  # noqa: S704 (our own drawing)
        for attack, words in (("values", "Everything that was released"), ("rows", "The synthetic rows alone"))
    ]
    return render("audit_mechanism.html", document=document, verdict=mechanism_verdict(document), charts=charts)


def mechanism_verdict(document: Document) -> tuple[str, ...]:
    """What was found, in a few sentences; the first says it all."""
    methods = document["methods"]
    broken = [each["method"] for each in methods if each["broken"]]
    named = methods[0]["method"] if len(methods) == 1 else f"any of {len(methods)} methods"
    lead = (
        f"The claim is wrong for {', '.join(broken)}: an attack proved more than the certificate allows."
        if broken
        else f"No attack proved that {named} spends more than its certificate says."
    )
    best = max(methods, key=lambda each: each["attacks"]["values"]["muAtLeast"] / each["claim"]["mu"])
    reached = best["attacks"]["values"]["muAtLeast"] / best["claim"]["mu"]
    runs = sum(2 * document["runsPerSide"] for _ in methods)
    return (
        lead,
        f"{runs:,} runs of the whole pipeline on two made-up tables that differ in one record. Each bound holds with "
        f"{100 * document['confidence']:g} % confidence.",
        f"The strongest attack ({best['method']}) proved {100 * reached:.0f} % of what is claimed, so the attacks have teeth."
        if not broken
        else "; ".join(f"{each['method']}: {fault}" for each in methods for fault in each["faults"])
        or "See the table.",
    )


def _mechanism_chart(document: Document, attack: str, *, most: float) -> str:
    lanes = [
        Lane(
            each["method"],
            each["attacks"][attack]["muAtLeast"],
            each["attacks"][attack]["muAtLeast"],
            each["attacks"][attack]["muAtLeast"],
            f"{each['attacks'][attack]['muAtLeast']:.2f} of {each['claim']['mu']:.2f}",
            limit=each["claim"]["mu"],
        )
        for each in document["methods"]
    ]
    ticks = [(0.0, "0"), (most / 1.05, f"mu {most / 1.05:.1f}")]
    return lane_chart(lanes, most=most, ticks=ticks, title=f"Proven and claimed mu per method: {attack}")
