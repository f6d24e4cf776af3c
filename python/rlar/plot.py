"""The figures of the command `rlar plot`, drawn with matplotlib from estimators and results.

Each function draws into `ax`, or into a new figure where it is None, and gives the Axes back. A new
figure is unknown to pyplot, whose state stays as it is: `ax.figure` at the end of a notebook's cell
shows it, and `ax.figure.savefig("figure.pdf")` writes it. Classes and curves differ in colour, dashes
and shape, and scales of colour run evenly from light to dark, so that all can be read in grey.

matplotlib is imported when a function is called, not before.
"""
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ._base import LinearMapEstimator

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["convergence", "embedding", "feature_scores", "heatmap"]

# Eight colours that differ in lightness and for colour-blind eyes, ten shapes (filled or not), and
# dashes: those of the command.
_COLOURS = ("#000000", "#0072b2", "#d55e00", "#009e73", "#b0528d", "#e69f00", "#4aa3d8", "#7a7a7a")
_SHAPES = (("o", True), ("s", False), ("^", True), ("D", False), ("s", True), ("o", False), ("v", True), ("^", False),
           ("D", True), ("v", False))
_DASHES = ("-", (0, (5, 2.5)), (0, (1.2, 1.8)), (0, (7, 2, 1.2, 2)), (0, (3, 1.2)), (0, (0.6, 1.2)),
           (0, (5, 1.8, 1.2, 1.8, 1.2, 1.8)))
_LIGHT_TO_DARK = ("#f4f7fb", "#6d9cc6", "#14325c")
_BAR, _BEST, _NONE, _LINES = "#3b6ea5", "#d55e00", "#999999", "#dddddd"

_LEGEND_NAMES = 20  # with more classes their names stand at the means
_CELL_TEXTS = 12  # rows and columns up to which the cells of a heat map have numbers


# ---- Convergence ----

def convergence(*estimators: LinearMapEstimator, labels: Sequence[str] | None = None,
                against: str = "iteration", ax: Axes | None = None) -> Axes:
    """The objective after each iteration of one or more fits.

    Parameters
    ----------
    *estimators : fitted estimators with an objective
    labels : a name for each in the legend; default: its class, where there are several
    against : "iteration" or "seconds"
    ax : where to draw; default: a new figure

    Returns
    -------
    ax : matplotlib.axes.Axes, with a line for each estimator
    """
    if not estimators:
        raise ValueError("convergence: no estimator is given")
    if against not in ("iteration", "seconds"):
        raise ValueError(f"against={against!r}: 'iteration' or 'seconds' is needed")
    if labels is not None and len(labels) != len(estimators):
        raise ValueError(f"convergence: {len(labels)} labels for {len(estimators)} estimators")
    curves = [_curve(estimator, against) for estimator in estimators]
    ax = _axes(ax, (5.0, 3.6))
    for i, (x, y) in enumerate(curves):
        name = type(estimators[i]).__name__ if labels is None else labels[i]
        # About eight marks on each curve tell them apart; a single point shows as one.
        ax.plot(x, y, label=name, linestyle=_DASHES[i % len(_DASHES)], linewidth=1.6, markersize=5,
                markevery=1 + len(x) // 8, **_marks(i))
    all_x, all_y = (np.concatenate(part) for part in zip(*curves))
    ax.set_xlabel("time (s)" if against == "seconds" else "iteration")
    ax.set_ylabel("objective")
    _scale_axes(ax, all_x, all_y, against)
    _grid(ax, "both")
    if labels is not None or len(estimators) > 1:
        ax.legend(frameon=False)
    return ax


def _curve(estimator: LinearMapEstimator, against: str) -> tuple[np.ndarray, np.ndarray]:
    check_is_fitted(estimator)
    name = type(estimator).__name__
    trace = getattr(estimator, "trace_", None)
    if trace is None:
        raise ValueError(f"{name} has no trace_: a model file does not hold it; fit again")
    finite = np.isfinite(trace["objective"])
    if not finite.any():
        raise ValueError(f"the trace of {name} has no objective: methods that solve in closed form have none to draw")
    x = trace["seconds"] if against == "seconds" else np.arange(1.0, len(trace) + 1)
    return x[finite], trace["objective"][finite]


def _scale_axes(ax: Axes, x: np.ndarray, y: np.ndarray, against: str) -> None:
    from matplotlib.ticker import MaxNLocator

    if _is_wide(x, 100 if against == "seconds" else 60):
        _logarithmic(ax, "x")
    elif against == "iteration":
        ax.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
    if _is_wide(y, 50):
        _logarithmic(ax, "y")


def _is_wide(values: np.ndarray, factor: float) -> bool:
    """Is a logarithmic axis worth it?"""
    return bool(values.min() > 0 and values.max() / values.min() >= factor)


def _logarithmic(ax: Axes, which: str) -> None:
    """With numbers as people write them, 50 and not 5 x 10^1."""
    from matplotlib.ticker import FuncFormatter

    getattr(ax, f"set_{which}scale")("log")
    getattr(ax, f"{which}axis").set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


# ---- Embedding ----

def embedding(estimator: LinearMapEstimator, X: Any, y: Any = None, *, ax: Axes | None = None) -> Axes:
    """Samples along the two directions of largest variance of transform(X), coloured by class.

    With more than 20 classes their names stand at their means instead of in a legend. A map with a
    single output has no second direction: there the class is the height.

    Parameters
    ----------
    estimator : a fitted estimator
    X : samples, as for transform
    y : their classes; those that the estimator does not know are drawn as grey crosses, and without
        classes all are one group
    ax : where to draw; default: a new figure

    Returns
    -------
    ax : matplotlib.axes.Axes, with a collection of points for each class that has samples
    """
    outputs = np.asarray(estimator.transform(X), dtype=float)
    classes = estimator.classes_
    labels = _class_numbers(classes, y, len(outputs))
    points, shares = _principal(outputs)
    if shares is None:
        points[:, 1] = labels
    ax = _axes(ax, (5.8, 4.2))
    legend = len(classes) <= _LEGEND_NAMES
    size = 22 if legend and len(points) <= 2000 else 7
    for k in [*range(len(classes)), -1]:  # those without a class come last
        group = points[labels == k]
        if len(group) == 0:
            continue
        if k >= 0:
            ax.scatter(group[:, 0], group[:, 1], s=size, label=_short(classes[k]), **_points(k))
        else:
            ax.scatter(group[:, 0], group[:, 1], s=size, label="samples" if y is None else "not in the model",
                       marker="x", color=_NONE, linewidths=1.0)
        if k >= 0 and not legend:
            ax.text(group[:, 0].mean(), group[:, 1].mean(), _short(classes[k], 12), ha="center", va="center",
                    fontsize="small", fontweight="bold",
                    bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 1.0})
    _name_directions(ax, shares)
    _grid(ax, "both")
    if legend:
        ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, handletextpad=0.2)
    return ax


def _class_numbers(classes: np.ndarray, y: Any, count: int) -> np.ndarray:
    """Where each sample's class is among the classes; -1: nowhere."""
    if y is None:
        return np.full(count, -1)
    y = np.asarray(y)
    if y.shape != (count,):
        raise ValueError(f"embedding: y has the shape {y.shape}; one class for each of the {count} samples is needed")
    numbers = {name: k for k, name in enumerate(classes.tolist())}
    return np.array([numbers.get(label, -1) for label in y.tolist()])


def _principal(outputs: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """(two coordinates for each sample, their shares of the variance); one output: itself and nothing.

    As in the command the origin stays where it is; the largest part of a direction is positive.
    """
    if outputs.shape[1] == 1:
        return np.column_stack([outputs, np.zeros(len(outputs))]), None
    centred = outputs - outputs.mean(axis=0)
    variances, directions = np.linalg.eigh(centred.T @ centred)
    variances, directions = variances.clip(0)[::-1], directions[:, :-3:-1]
    largest = directions[np.abs(directions).argmax(axis=0), [0, 1]]
    shares = variances[:2] / max(variances.sum(), np.finfo(float).tiny)
    return outputs @ (directions * np.sign(largest)), shares


def _name_directions(ax: Axes, shares: np.ndarray | None) -> None:
    if shares is None:
        ax.set_xlabel("the only output")
        ax.set_ylabel("class")
        ax.set_yticks([])
        ax.margins(y=0.2)
    else:
        ax.set_xlabel(f"first direction ({100 * shares[0]:.1f} % of the variance)")
        ax.set_ylabel(f"second direction ({100 * shares[1]:.1f} %)")


# ---- Heat map ----

_Cell = tuple[Mapping[str, Any], float, int]  # parameters, accuracy, trials


def heatmap(results: Any, *, method: str | None = None, size: float | None = None,
            ax: Axes | None = None) -> Axes:
    """The accuracy over the two parameters of a grid, the best cell marked.

    Parameters
    ----------
    results : what rlar.evaluate(..., tune=) gave, or a fitted GridSearchCV; with another scoring than
        accuracy, its scores are shown as they are. With coarse, cells were tried in some trials only or
        not at all (hatched); the numbers of the first are in brackets, and the best is not among them.
    method, size : which grid of evaluate, where it has several
    ax : where to draw; default: a new figure

    Returns
    -------
    ax : matplotlib.axes.Axes; its image (ax.images[0]) holds the values, rows from bottom to top
    """
    cells, measure, per_cent, title = _search_cells(results) if hasattr(results, "cv_results_") else \
        _evaluate_cells(results, method, size)
    axes = _varied(cells)
    (x_name, x_values), (y_name, y_values) = axes.items()
    table = np.full((len(y_values), len(x_values)), np.nan)
    trials = np.zeros(table.shape)
    for values, accuracy, count in cells:  # a cell that is there twice counts once, with its last accuracy
        place = _place(y_values, values[y_name]), _place(x_values, values[x_name])
        table[place], trials[place] = accuracy, count
    if np.isnan(table).all():
        raise ValueError("heatmap: no cell of the grid has an accuracy")
    table *= 100 if per_cent else 1
    ax = _axes(ax, (2.4 + 0.62 * len(x_values), 1.6 + 0.45 * len(y_values)))
    low, high = _limits(table, per_cent)
    image = ax.imshow(table, cmap=_colour_map(), origin="lower", aspect="auto", vmin=low, vmax=high)
    _write_cells(ax, table, trials, image, "{:.1f}" if per_cent else "{:.3g}")
    _name_cells(ax, [_text(value) for value in x_values], [_text(value) for value in y_values])
    ax.set(xlabel=x_name, ylabel=y_name)
    ax.set_title(title, loc="left", fontsize="medium")
    _mark_cells(ax, table, trials)
    brackets = ", ( ): of fewer trials" if any("(" in text.get_text() for text in ax.texts) else ""
    ax.figure.colorbar(image, ax=ax, label=measure + brackets)
    return ax


def _evaluate_cells(results: Any, method: str | None, size: float | None) -> tuple[list[_Cell], str, bool, str]:
    """(cells, what their accuracy is, in per cent?, title)"""
    grids = getattr(results, "attrs", {}).get("grids")
    if grids is None:
        raise ValueError("heatmap: there is no grid; rlar.evaluate(..., tune='cv') or a fitted GridSearchCV is needed")
    fitting = [grid for grid in grids if method in (None, grid["method"]) and size in (None, _size_of(grid)[1])]
    if len(fitting) != 1:
        known = ", ".join(f"method={grid['method']!r} size={_size_of(grid)[1]:g}" for grid in grids)
        raise ValueError(f"heatmap: {len(fitting)} grids fit; choose one by method= and size= from {known}")
    grid = fitting[0]
    column, number = _size_of(grid)
    cells: list[_Cell] = [({name: cell[name] for name in grid["axes"]}, cell["accuracy"], cell["trials"])
                          for cell in grid["cells"]]
    measure = "test accuracy (%)" if grid["tune"] == "oracle" else "validation accuracy (%)"
    return cells, measure, True, f"{grid['method']}, {column.replace('_', ' ')} {number:g}"


def _size_of(grid: Mapping[str, Any]) -> tuple[str, float]:
    return next((name, grid[name]) for name in ("train_per_class", "train_fraction", "folds") if name in grid)


def _search_cells(search: Any) -> tuple[list[_Cell], str, bool, str]:
    """The same of a GridSearchCV; with several measures the one that it was refitted by."""
    results = search.cv_results_
    metric = search.refit if search.multimetric_ else "score"
    key = f"mean_test_{metric}"
    if key not in results:
        raise ValueError("heatmap: the search has several measures; give GridSearchCV(refit=) one of them")
    accuracy = (metric if search.multimetric_ else search.scoring) in (None, "accuracy")
    if accuracy:
        measure = "validation accuracy (%)"
    elif search.multimetric_ or isinstance(search.scoring, str):
        measure = f"validation {metric if search.multimetric_ else search.scoring}"
    else:
        measure = "validation score"
    return [(values, score, 1) for values, score in zip(results["params"], results[key])], measure, accuracy, ""


def _varied(cells: list[_Cell]) -> dict[str, list[Any]]:
    """The two parameters that have more than one value; numbers in order, others as they come."""
    axes: dict[str, list[Any]] = {}
    for values, _, _ in cells:
        for name, value in values.items():
            known = axes.setdefault(name, [])
            if _place(known, value) < 0:
                known.append(value)
    varied = {name: values for name, values in axes.items() if len(values) > 1}
    if len(varied) != 2:
        raise ValueError(f"heatmap: {len(varied)} parameters have more than one value ({', '.join(varied) or 'none'}); "
                         "two are drawn: give the others one value")
    return {name: sorted(values) if all(map(_is_number, values)) else values for name, values in varied.items()}


def _place(values: list[Any], value: Any) -> int:
    """By text: arrays and estimators among the values have no plain equality."""
    return next((i for i, known in enumerate(values) if _text(known) == _text(value)), -1)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def _text(value: Any) -> str:
    return f"{value:.12g}" if _is_number(value) else _short(value, 24)


def _limits(table: np.ndarray, per_cent: bool) -> tuple[float, float]:
    """Of the colours; a flat grid is shown as flat."""
    low, high = float(np.nanmin(table)), float(np.nanmax(table))
    if high - low < (1 if per_cent else 1e-9):
        half = max(0.5, 0.01 * abs(high)) if per_cent else max(1e-9, 0.01 * abs(high))
        low, high = low - half, high + half
    return low, high


def _name_cells(ax: Axes, columns: list[str], rows: list[str]) -> None:
    """Names below the cells that would run into each other are turned."""
    ax.set_xticks(range(len(columns)), columns)
    if max(map(len, columns)) > 8:
        for text in ax.get_xticklabels():
            text.set(rotation=40, ha="right", rotation_mode="anchor")
    ax.set_yticks(range(len(rows)), rows)
    ax.tick_params(length=0)


def _is_full(table: np.ndarray, trials: np.ndarray) -> np.ndarray:
    """Which cells were tried in as many trials as any: a single easy trial says little."""
    return np.asarray(trials == trials[~np.isnan(table)].max())


def _write_cells(ax: Axes, table: np.ndarray, trials: np.ndarray, image: Any, number: str) -> None:
    """Numbers in the cells, dark on light ones and light on dark ones, in brackets those of fewer trials."""
    if max(table.shape) > _CELL_TEXTS:
        return
    full = _is_full(table, trials)
    for (row, column), value in np.ndenumerate(table):
        if not math.isnan(value):
            colour = "white" if image.norm(value) > 0.5 else "black"
            text = number.format(value) if full[row, column] else f"({number.format(value)})"
            ax.text(column, row, text, ha="center", va="center", color=colour, fontsize="small")


def _mark_cells(ax: Axes, table: np.ndarray, trials: np.ndarray) -> None:
    """A frame around the best, hatches where there is no accuracy, and what they mean."""
    from matplotlib.patches import Rectangle

    marks = []
    for row, column in np.argwhere(np.isnan(table)):
        marks.append(ax.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, facecolor="white", edgecolor=_NONE,
                                            hatch="////", linewidth=0, label="no result")))
    row, column = np.unravel_index(np.nanargmax(np.where(_is_full(table, trials), table, np.nan)), table.shape)
    marks.append(ax.add_patch(Rectangle((column - 0.47, row - 0.47), 0.94, 0.94, fill=False, edgecolor=_BEST,
                                        linewidth=2.2, label="best")))
    names = {str(mark.get_label()): mark for mark in marks}
    ax.legend(list(names.values()), list(names), loc="lower right", bbox_to_anchor=(1.0, 1.0), ncol=2, frameon=False,
              borderaxespad=0.2, handlelength=1.4, fontsize="small")


# ---- Feature scores ----

def feature_scores(estimator: LinearMapEstimator, *, top: int = 30, image: tuple[int, int] | None = None,
                   order: Literal["C", "F"] = "C", ax: Axes | None = None) -> Axes:
    """The scores of the best features as bars or, with image, of all as an image.

    Parameters
    ----------
    estimator : a fitted estimator
    top : bars for so many features; of equal scores the first
    image : (height, width) in pixels, where each feature is one
    order : how the pixels are stored: "C" row by row, "F" column by column, as in MATLAB's files
    ax : where to draw; default: a new figure

    Returns
    -------
    ax : matplotlib.axes.Axes, with a bar for each feature or an image
    """
    scores = estimator.feature_scores_
    if image is not None:
        return _score_image(scores, image, order, ax)
    if top < 1:
        raise ValueError(f"top={top!r}: 1 or more features are needed")
    best = np.argsort(-scores, kind="stable")[:top]
    names = getattr(estimator, "feature_names_in_", None)
    ax = _axes(ax, (5.0, 0.9 + 0.24 * len(best)))
    ax.barh(range(len(best)), scores[best], height=0.76, color=_BAR)
    ax.set_yticks(range(len(best)), [_short(j if names is None else names[j]) for j in best])
    ax.set_ylim(len(best) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel("score")
    ax.set_ylabel("feature" if names is not None else "feature (column)")
    _grid(ax, "x")
    return ax


def _score_image(scores: np.ndarray, image: tuple[int, int], order: Literal["C", "F"],
                 ax: Axes | None) -> Axes:
    height, width = image
    if height * width != len(scores):
        raise ValueError(f"image={image!r}: {height * width} pixels for {len(scores)} features")
    if order not in ("C", "F"):
        raise ValueError(f"order={order!r}: 'C' (row by row) or 'F' (column by column) is needed")
    ax = _axes(ax, (4.6, 3.8))
    # Pixels are square unless the image would then be a thin line.
    square = height <= 8 * width and width <= 8 * height
    drawn = ax.imshow(scores.reshape(image, order=order), cmap=_colour_map(), vmin=0.0,
                      aspect="equal" if square else "auto", interpolation="nearest")
    ax.set(xlabel="column (pixels)", ylabel="row (pixels)")
    ax.figure.colorbar(drawn, ax=ax, label="score")
    return ax


# ---- What the figures share ----

def _axes(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """ax, or the one of a new figure of this size in inches that pyplot does not know."""
    if ax is not None:
        return ax
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("rlar.plot needs matplotlib, which is not installed: pip install matplotlib, or on Debian "
                          "apt-get install python3-matplotlib") from error
    return Figure(figsize=size, layout="constrained").subplots()


def _colour_map() -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("rlar", _LIGHT_TO_DARK)


def _grid(ax: Axes, which: Literal["both", "x"]) -> None:
    ax.grid(True, axis=which, color=_LINES, linewidth=0.8)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)


def _style(i: int) -> tuple[str, str, bool]:
    """(colour, shape, filled?) of the i-th class or curve."""
    shape, filled = _SHAPES[(i + i // len(_COLOURS)) % len(_SHAPES)]
    return _COLOURS[i % len(_COLOURS)], shape, filled


def _marks(i: int) -> dict[str, Any]:
    """For a line."""
    colour, shape, filled = _style(i)
    return {"color": colour, "marker": shape, "markerfacecolor": colour if filled else "white"}


def _points(i: int) -> dict[str, Any]:
    """For a cloud of points."""
    colour, shape, filled = _style(i)
    return {"marker": shape, "edgecolors": colour, "facecolors": colour if filled else "none", "linewidths": 0.9}


def _short(name: Any, limit: int = 28) -> str:
    """A name as it is, cut: a dollar sign would start a formula."""
    text = str(name)
    text = text if len(text) <= limit else text[:limit - 1] + "\N{HORIZONTAL ELLIPSIS}"
    return text.replace("$", r"\$")
