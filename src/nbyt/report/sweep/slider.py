"""A slider with its label and the words of the place it is at."""

from nbyt.report.page.element import Markup, tag


def slider_bar(name: str, label: str, said: list[str]) -> Markup:
    """The bar above what the slider changes. said: the words of each place."""
    handle = tag(
        "input",
        type="range",
        id=name,
        min=0,
        max=len(said) - 1,
        step=1,
        value=0,
        aria_valuetext=said[0],
    )
    output = tag("output", said[0], for_=name, data_word_of=name)
    return tag("div", tag("label", label, for_=name), handle, output, class_="slide-bar")
