"""What relationships cost whose paths fit a query less than the best one."""

import pytest
from kgagent.retrieval.path_fits import MISFIT_WEIGHT, THROUGH_SHARE, PathFits
from kgagent.retrieval.type_fit import Chain

from tests.unit.retrieval.test_type_fit import DIRECTED, STARRED, YEAR, fit_of

Path = tuple[list[str], list[Chain]]


def test_a_relationship_costs_less_if_a_path_through_it_continues_as_the_best_one() -> None:
    fit = fit_of("directors", "year")
    paths: list[Path] = [(["a", "x"], [(DIRECTED, YEAR)]), (["b"], [(DIRECTED,)]), (["c"], [(DIRECTED,)])]
    fits = PathFits(fit, paths)
    assert fits.undecided(["a", "b", "c", "x"]) == ["b", "c"]
    costs = fits.costs({"b": {YEAR}, "c": {STARRED}})
    assert costs["a"] == costs["b"] == costs["x"] == 0.0
    lost = fit.of((DIRECTED, YEAR)) - fit.of((DIRECTED,))
    assert costs["c"] == pytest.approx(3 * MISFIT_WEIGHT * THROUGH_SHARE * lost)


def test_words_make_the_best_path_surer() -> None:
    paths: list[Path] = [(["a"], [(DIRECTED,)]), (["b"], [(STARRED,)])]
    guessed, named = (PathFits(fit_of(*said, directed=0.6), paths).costs({})["b"] for said in ((), ("directed",)))
    assert guessed == pytest.approx(0.1 * MISFIT_WEIGHT)
    assert named == pytest.approx(0.1 * 2 * MISFIT_WEIGHT)


def test_without_paths_nothing_costs() -> None:
    assert PathFits(fit_of(), []).costs({}) == {}
