"""The words of the pages."""

from nbyt.report.html.glossary import TERMS, definitions, term


def test_a_word_leads_to_its_definition() -> None:
    html = definitions()
    for key, (name, meaning) in TERMS.items():
        assert f'href="#term-{key}"' in term(key)
        assert html.count(f'id="term-{key}"') == 1
        assert name and meaning.endswith(".")
    assert ">other</a>" in term("batch", "other")
