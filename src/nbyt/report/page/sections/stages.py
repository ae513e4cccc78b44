"""The slider over the stages, and what is said of the chosen one."""

from nbyt.rank.reasons import deciding
from nbyt.report.page.element import Markup, join, tag
from nbyt.report.page.glossary import term
from nbyt.report.page.part import Part, Slider, by_stage
from nbyt.report.page.quantity import share, shown, words
from nbyt.results.values import Data


def start_of(data: Data) -> int:
    """The place of the stage that counts most: the page opens there."""
    return data["stages"].index(deciding(data["stages"]))


def stage_bar(data: Data) -> Part:
    """The slider with the name, mean return and weight of the stage it is at."""
    stages, start = data["stages"], start_of(data)
    label = tag("label", "Stage", for_="stage")
    slider = tag(
        "input",
        type="range",
        id="stage",
        min=0,
        max=len(stages) - 1,
        step=1,
        value=start,
        disabled=len(stages) == 1,
        aria_valuetext=valuetext(stages[start]),
    )
    about = tag("div", by_stage([_about(one) for one in stages], start), class_="about-stage")
    control = tag("div", label, slider, class_="control")
    bar = tag("div", control, about, class_="stage-bar")
    return Part(bar, sliders={"stage": Slider([valuetext(one) for one in stages], start)})


def valuetext(stage: Data) -> str:
    """What a screen reader says for a stage."""
    out = "" if stage["clear"] else ", left out of the ranking"
    mean = words(stage["mean_return"])
    return f"{stage['name']}, mean return {mean}, weight {share(stage['weight'])}{out}"


def _about(stage: Data) -> Markup:
    facts = [
        tag("strong", stage["name"], class_="stage-name"),
        tag("span", "mean return ", shown(stage["mean_return"])),
        tag("span", term("weight"), f" {share(stage['weight'])}"),
        tag("span", term("explained_variance"), " ", _critic(stage)),
    ]
    if not stage["clear"]:
        facts.append(tag("span", term("left_out", "left out of the ranking"), class_="flag harm"))
    return join(facts)


def _critic(stage: Data) -> Markup:
    return shown(stage["critic"]["explained_variance"])
