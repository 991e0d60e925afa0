"""The pages of audits: what attacks on made-up neighbours proved about methods, and what attacks on one release reached.

Functions of the audits' JSON; they hold no rows and compute nothing. The page of a release is CONFIDENTIAL and says so first.
"""

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from sundog.report.charts import percent
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
        f"The strongest attack ({best['method']}) proved at least {100 * reached:.0f} % of the mu that is claimed."
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


def release_verdict(document: Document) -> tuple[str, ...]:
    """What was found, in a few sentences; the first says it all."""
    attacks = document["attacks"]
    judged = [each for each in attacks if each["outsiders"] is not None]
    beyond = [each for each in attacks if each["beyondLimit"]]
    if beyond:
        return (f"Attacks reach more than the certificate allows: {_named(beyond)}. Do not release this table.",)
    if not judged:
        return ("Little can be concluded: no rows were given that the synthesizer never saw.",)
    works = [each for each in judged if each["works"]]
    if not works:
        lead = f"None of {len(judged)} attacks finds people in the table more often than people who are not in it."
    else:
        most = max(works, key=lambda each: each["gain"]["value"])
        gain = most["gain"]["value"]
        word = "nearly always" if gain > 0.5 else "clearly" if gain > 0.1 else "slightly"
        lead = (
            f"{len(works)} of {len(judged)} attacks find people in the table {word} more often than people who are not in it; the "
            f"strongest is {_named([most])}: {percent(most['members']['rate'])} against {percent(most['outsiders']['rate'])}."
        )
    limits = [each["limit"] for each in judged if each["limit"] is not None]
    if not limits:
        return (lead,)
    if min(limits) > 0.99:
        return lead, "At this budget differential privacy by itself would allow attacks that nearly always succeed."
    return lead, "All are within what differential privacy allows an attacker who knows everything else."


def _named(attacks: list[Any]) -> str:
    return ", ".join(f"{each['kind'].lower()} ({each['name']})" for each in attacks)


def release_page(document: Document) -> str:
    """The page of an audit of a release. CONFIDENTIAL."""
    kinds = dict.fromkeys(each["kind"] for each in document["attacks"])
    charts = [(kind, _ABOUT[kind], Markup(_release_chart(document, kind))) for kind in kinds]  # noqa: S704 (our own drawing)
    return render("audit_release.html", document=document, verdict=release_verdict(document), charts=charts)


_ABOUT = {
    "Membership": "Was this person's row in the table? The test is set so that it says yes to about 5 % of people who were not.",
    "Singling out": "Is there a description, read from the synthetic rows, that fits this person alone?",
    "Linkability": "Can two data sets that each hold half of what is known of a person be joined through the synthetic rows?",
    "Inference": "Can a secret of a person be guessed from everything else that is known of that person?",
}


def _release_chart(document: Document, kind: str) -> str:
    lanes = []
    for each in document["attacks"]:
        if each["kind"] == kind:
            rates = [("in the table", each["members"], each["limit"], each["baseline"])]
            if each["outsiders"] is not None:
                rates.append(("not in it", each["outsiders"], None, None))
            for who, rate, limit, baseline in rates:
                low, high = rate["interval"]
                name = f"{each['name']}: people {who}"
                lanes.append(Lane(name, rate["rate"], low, high, percent(rate["rate"]), baseline=baseline, limit=limit))
    ticks = [(0.0, "0"), (0.5, "50 %"), (1.0, "100 %")]
    return lane_chart(lanes, most=1.0, ticks=ticks, title=f"{kind}: how many of 100 people the attacks succeed on")
