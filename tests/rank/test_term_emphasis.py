"""Which terms of a question identify the definition."""

from __future__ import annotations

from codelens.rank.query.query_analysis import analyse
from codelens.rank.scoring.candidates import Weighed
from codelens.rank.scoring.definition_ranking import emphasised


def weights(question: str, rarities: dict[str, float]) -> dict[str, float]:
    """Term -> its weight in bodies, for terms with some rarity in the view."""
    terms = [Weighed(text, rarity, None, frozenset()) for text, rarity in rarities.items()]
    return {term.text: term.weight for term in emphasised(analyse(question), terms)}


def test_repetition_counts_more() -> None:
    weighed = weights("trim the wick of a lamp when the wick smokes", {"lamp": 2.0, "wick": 2.0})
    assert weighed["lamp"] < weighed["wick"] < 2 * weighed["lamp"]


def test_the_first_line_of_a_message_counts_more_than_the_rest() -> None:
    weighed = weights("Trim the wick\n\nThe lamp smokes.", {"lamp": 2.0, "wick": 2.0})
    assert weighed["lamp"] < weighed["wick"]


def test_one_line_weighs_all_its_words_alike() -> None:
    weighed = weights("trim the wick of the lamp", {"lamp": 2.0, "wick": 2.0})
    assert weighed["lamp"] == weighed["wick"]


def test_a_term_that_nobody_typed_keeps_its_place() -> None:
    """Related terms come from a table, so the question contains them zero times."""
    weighed = weights("authenticate", {"authent": 3.0, "auth": 0.5})
    assert 0.0 < weighed["auth"] < weighed["authent"]
