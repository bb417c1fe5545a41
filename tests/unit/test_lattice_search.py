"""The parts of the search by themselves: the space of nodes, tagging in waves, bounds, the trace, and its refusals."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hierarchies import bind, flat, hierarchy, model

from anon_spark.algorithms.bounds import LossBounds
from anon_spark.algorithms.checker import Verdict, pruning
from anon_spark.algorithms.costing import holds, kept_rows
from anon_spark.algorithms.lattice import decide, decide_with, failing_classes, whole_table
from anon_spark.algorithms.local_checker import LocalChecker
from anon_spark.algorithms.node_space import MAX_NODES, MAX_NODES_UNPRUNED, NodeSpace, closed_above, lattice_size, minimal_of
from anon_spark.algorithms.search import node_limit, search
from anon_spark.algorithms.tagging import FAILS, HOLDS, Tagging
from anon_spark.domain.errors import InfeasibleError
from anon_spark.domain.frequency import FrequencySet
from anon_spark.domain.problem import Problem
from anon_spark.domain.recoding import Levels
from anon_spark.metrics.losses import LossTable
from anon_spark.models.registry import Asked, build, models_of

K2 = [model("k-anonymity", k=2)]
ALPHA = model("alpha-deassociation", "s", alpha=Fraction(1, 2))
REFINED = model("alpha-deassociation", "s", alpha=Fraction(1, 2), refined=True)


def tree(column: str, leaves: int = 8) -> object:
    return hierarchy(column, [[str(v), f"1:{v // 2}", f"2:{v // 4}", "*"] for v in range(leaves)])


def some_problem(seed: int, **more: object) -> tuple[Problem, FrequencySet]:
    rng = random.Random(seed)
    columns = [tree("a"), tree("b"), flat("c", ["x", "y"])]
    rows = [[str(rng.randint(0, 7)), str(int(8 * rng.random() ** 2)), rng.choice("xy"), rng.choice("stu")] for _ in range(40)]
    return bind(rows, columns, more.pop("models", K2), ["s"], **more)  # type: ignore[arg-type]


class Recorder(LocalChecker):
    """Notes every wave; its verdicts are the driver's."""

    def __init__(self, problem: Problem, frequency: FrequencySet, width: int = 1):
        super().__init__(problem, models_of(problem), frequency)
        self.width = width
        self.waves: list[list[Levels]] = []

    def check(self, nodes: Sequence[Levels]) -> list[Verdict]:
        self.waves.append(list(nodes))
        return super().check(nodes)


def test_places_follow_level_vectors() -> None:
    space = NodeSpace((1, 0, 2), (3, 0, 4))
    nodes = [space.levels(place) for place in range(space.size)]
    assert nodes == sorted(product((1, 2, 3), (0,), (2, 3, 4))) and space.free == (0, 2)
    assert [space.place(node) for node in nodes] == list(range(9))
    assert space.place((0, 0, 2)) is None and space.place((1, 1, 2)) is None
    assert space.heights().ravel().tolist() == [sum(node) - 3 for node in nodes]
    above, below = np.zeros(space.shape, bool), np.zeros(space.shape, bool)
    above[space.above(4)], below[space.below(4)] = True, True
    assert np.flatnonzero(above).tolist() == [4, 5, 7, 8] and np.flatnonzero(below).tolist() == [0, 1, 3, 4]


def test_a_space_of_one_node_and_one_of_many_columns() -> None:
    assert NodeSpace((2, 1), (2, 1)).size == 1 and NodeSpace((2, 1), (2, 1)).levels(0) == (2, 1)
    wide = NodeSpace((0,) * 80, (1, *(0,) * 78, 1))
    assert wide.size == 4 and wide.levels(3) == (1, *(0,) * 78, 1)


def test_minimal_nodes() -> None:
    mask = np.array([[0, 0, 1], [0, 1, 1], [1, 0, 1]], dtype=bool)
    assert np.argwhere(minimal_of(mask)).tolist() == [[0, 2], [1, 1], [2, 0]]
    assert closed_above(mask).tolist() == [[False, False, True], [False, True, True], [True, True, True]]
    gap = np.array([1, 0, 1], dtype=bool)
    assert minimal_of(gap).tolist() == [True, False, False]


def test_which_models_prune() -> None:
    asked = [*K2, ALPHA, REFINED, model("l-diversity", "s", kind="distinct", l=2)]
    models = tuple(made for spec in asked for made in build(Asked(spec)))
    assert pruning(models, 0) == (models[0], models[1], models[3])
    assert pruning(models, 1) == (models[0], models[3])


def test_stated_limits_of_the_lattice() -> None:
    problem, _ = some_problem(0, models=[*K2, ALPHA])
    assert lattice_size(problem) == 4 * 4 * 2
    models = models_of(problem)
    assert node_limit(problem, models) == MAX_NODES == 2_000_000
    beside, _ = some_problem(0, models=[*K2, ALPHA], limit=Fraction(1, 10))
    assert node_limit(beside, models) == MAX_NODES_UNPRUNED == 200_000
    assert node_limit(beside, models[:1]) == MAX_NODES
    # a limit too small to suppress one row prunes like none
    assert node_limit(some_problem(0, models=[*K2, ALPHA], limit=Fraction(1, 50))[0], models) == MAX_NODES


@pytest.mark.parametrize("width", [1, 5])
@pytest.mark.parametrize("limit", [Fraction(0), Fraction(1, 5)])
def test_tagging_settles_every_node_rightly(width: int, limit: Fraction) -> None:
    for seed in range(10):
        problem, frequency = some_problem(seed, limit=limit, max_levels=(3, 2, 1))
        checker = Recorder(problem, frequency, width)
        tagging = Tagging(problem, checker)
        tagging.tag()
        truth = LocalChecker(problem, checker.models, frequency)
        for place in range(tagging.space.size):
            right = truth.check([tagging.space.levels(place)])[0].failing_pruning <= problem.may_suppress
            assert tagging.state.flat[place] == (HOLDS if right else FAILS)
        checked = [node for wave in checker.waves for node in wave]
        assert len(set(checked)) == len(checked)


def test_no_node_of_a_wave_could_settle_another() -> None:
    problem, frequency = some_problem(3)
    checker = Recorder(problem, frequency, 6)
    tagging = Tagging(problem, checker)
    tagging.tag()
    waves = [wave for wave in checker.waves if set(wave) - set(tagging.subsets)]
    assert any(len(wave) > 1 for wave in waves) and max(map(len, waves)) <= 6
    for wave in waves:
        for first, second in product(wave, wave):
            assert first == second or any(a > b for a, b in zip(first, second, strict=True))


def test_subsets_put_other_columns_at_their_roots() -> None:
    problem, frequency = some_problem(3, max_levels=(1, 1, 0))
    checker = Recorder(problem, frequency, 3)
    tagging = Tagging(problem, checker)
    tagging.tag()
    roots = [sum(level == h.levels - 1 for level, h in zip(node, problem.hierarchies, strict=True)) for node in tagging.subsets]
    assert roots and min(roots) >= 2


@pytest.mark.parametrize("loss", ["gcp", "glm", "distortion", "discernibility", "c-avg"])
def test_no_bound_is_above_the_loss(loss: str) -> None:
    """After everything has been learnt, and for every node that holds."""
    for seed in range(12):
        limit = Fraction(seed % 4, 10)
        problem, frequency = some_problem(seed, limit=limit, loss=loss, weights=(Fraction(1), Fraction(2), Fraction(1, 3)))
        table, space = LossTable(problem), NodeSpace(problem.min_levels, problem.max_levels)
        bounds = LossBounds(problem, table, space)
        checker = LocalChecker(problem, models_of(problem), frequency)
        verdicts = checker.check([space.levels(place) for place in range(space.size)])
        for place, verdict in enumerate(verdicts):
            bounds.learn(place, verdict)
        held = [place for place, verdict in enumerate(verdicts) if holds(problem, verdict)]
        assert held
        for place in held:
            verdict = verdicts[place]
            exact = table.loss(problem.loss, space.levels(place), kept_rows(problem, verdict), verdict.classes, verdict.squares)
            bound = bounds.bound(bounds.numbers.flat[place])
            assert exact is not None and bound <= exact
            if verdict.failing == 0 and bounds.known:
                assert bound == exact


def test_what_a_failing_node_says_of_those_above_it() -> None:
    """Eight rows alone: squares of at least 8 above; the pairs of the next level have 16, which no bound may pass."""
    problem, frequency = bind([[str(v)] for v in range(8)], [tree("q")], K2, limit=Fraction(1, 8), loss="discernibility")
    table, space = LossTable(problem), NodeSpace((0,), (3,))
    bounds = LossBounds(problem, table, space)
    bottom, pairs = LocalChecker(problem, models_of(problem), frequency).check([(0,), (1,)])
    bounds.learn(0, bottom)
    assert bounds.numbers.tolist() == [8, 8, 8, 8] and pairs.squares == 16
    bounds.learn(1, pairs)
    assert bounds.numbers.tolist() == [8, 16, 16, 16]


def test_a_kept_class_and_a_failing_one() -> None:
    """Three rows of x, one of y, k = 2, one row may go: what the verdict says of both."""
    problem, frequency = bind([["x"]] * 3 + [["y"]], [flat("q", ["x", "y", "z"])], K2, limit=Fraction(1, 4))
    checker = LocalChecker(problem, models_of(problem), frequency)
    low, top = checker.check([(0,), (1,)])
    assert (low.failing, low.failing_pruning, low.classes, low.smallest, low.largest, low.squares) == (1, 1, 1, 3, 3, 9)
    assert low.kept is not None and low.kept[0].tolist() == [3, 0, 0]
    assert (top.failing, top.classes, top.squares, top.kept) == (0, 1, 16, None)
    assert failing_classes(problem, frequency, (0,)).tolist() == [[1]]
    assert failing_classes(problem, frequency, (1,)).shape == (0, 1)


def test_the_cache_stays_within_its_bytes() -> None:
    problem, frequency = some_problem(5)
    checker = LocalChecker(problem, models_of(problem), frequency, cache_bytes=3000)
    nodes = list(product(range(4), range(4), range(2)))
    again = LocalChecker(problem, models_of(problem), frequency)
    for node in nodes:
        small, large = checker.check([node])[0], again.check([node])[0]
        assert (small.failing, small.squares) == (large.failing, large.squares)
        assert sum(cells.nbytes for cells in checker.cache.values()) == checker.cached <= 3000
    assert len(again.cache) == len(nodes) - 1


def test_the_trace_counts_every_node_once_and_tells_what_was_done() -> None:
    problem, frequency = some_problem(1, models=[*K2, REFINED])
    found = decide(problem, frequency)
    trace = found.trace
    assert trace.nodes == 32 == trace.checked + trace.marked + trace.pruned
    assert any("single columns" in step for step in trace.steps) and any("minimal nodes" in step for step in trace.steps)


def test_the_same_answer_at_every_run_and_width() -> None:
    for seed in range(5):
        problem, frequency = some_problem(seed, limit=Fraction(1, 10), models=[*K2, ALPHA])
        whole = whole_table(problem, frequency)
        found = [decide_with(problem, Recorder(problem, frequency, width), whole) for width in (1, 1, 3, 16)]
        assert len({f.levels for f in found}) == 1 and found[0] == found[1] and found[0].trace == found[1].trace
        assert {f.losses["gcp"] for f in found} == {found[0].losses["gcp"]}


def test_an_empty_table_and_too_few_rows_are_refused_before_any_check() -> None:
    column = flat("q", ["x", "y"])
    problem, frequency = bind([], [column], K2)
    with pytest.raises(InfeasibleError, match="no rows"):
        decide(problem, frequency)
    problem, frequency = bind([["x"]] * 3, [column], [model("k-anonymity", k=5), model("k-anonymity", k=4)])
    with pytest.raises(InfeasibleError) as raised:
        decide(problem, frequency)
    assert str(raised.value) == "privacy.0: 3 rows < k = 5: ask for a smaller k; privacy.1: 3 rows < k = 4: ask for a smaller k"


def test_an_exhausted_search_says_why() -> None:
    rows = [["x", "1"], ["y", "1"], ["x", "2"], ["x", "2"]]
    problem, frequency = bind(rows, [flat("q", ["x", "y"]), flat("r", ["1", "2"])], K2, max_levels=(0, 1))
    with pytest.raises(InfeasibleError) as refused:
        decide(problem, frequency)
    assert str(refused.value) == (
        "none of the lattice's 2 nodes holds k-anonymity: the most general node (q 0, r 1) fails, because its classes that fail hold "
        "1 of 4 rows and 0 may be suppressed; a higher max_level or suppression limit may help"
    )


def test_a_search_without_models_publishes_the_rows_as_they_are() -> None:
    problem, frequency = bind([["x"], ["y"]], [flat("q", ["x", "y"])], [])
    found = search(problem, (), LocalChecker(problem, (), frequency), LossTable(problem))
    assert found.levels == (0,) and found.trace.minimal == ((0,),)


def test_ignored_nulls_are_rows_but_no_values() -> None:
    """Two of four rows have no disease: ``s`` is half of the class where null is a value of its own and where it is left out."""
    rows = [["x", None], ["x", None], ["x", "s"], ["x", "s"]]
    asked = [model("alpha-deassociation", "d", alpha=Fraction(1, 2)), model("l-diversity", "d", kind="distinct", l=2)]
    problem, frequency = bind(rows, [flat("q", ["x"])], asked, ["d"])
    assert decide(problem, frequency).levels == (0,)
    problem, frequency = bind(rows, [flat("q", ["x"])], asked, ["d"], ignores_null=(True,))
    assert whole_table(problem, frequency).counts == {"d": {"s": 2}}
    with pytest.raises(InfeasibleError, match="l = 2 is above the 1 distinct values"):
        decide(problem, frequency)
