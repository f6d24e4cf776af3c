"""How MPDA cuts a class into patches, in plain NumPy. Part of the oracle of method mpda.

Distances D_E inside the class; graph of the k' nearest neighbours (either way counts, edge as long
as its distance), k' raised by 2 while the graph is not connected; geodesic distances D_G by
Floyd and Warshall; ratio R = D_G / D_E, 1 on the diagonal and between copies. The largest patch
(the last of them) is cut in two while it has M samples or more. Of the lists of patches on the
way the one whose mean of mean ratios is nearest to 1 counts, the first of them.

Read into the rules: a patch lists its samples in the order of their index; the candidates of a
round are found before a lone seed without candidates is given the unassigned sample that is
nearest to it by D_G; such a gift alone does not count as a candidate. Lengths of paths and means
of ratios that differ by rounding only (1e-12) are equal, so that data on a grid have their ties.
"""
import numpy as np

from scatter_reference import nearest, squared_distances

ROUNDING = 1e-12


def neighbour_lists(squares, k):
    """Row i: the k nearest other samples of sample i (fewer in a small class), by squares."""
    n = len(squares)
    return [nearest(squares[i], np.delete(np.arange(n), i), k) for i in range(n)]


def shortest_paths(D, lists):
    """Geodesic distances over the edges of the lists, either way; infinite without a path."""
    n = len(D)
    G = np.full((n, n), np.inf)
    np.fill_diagonal(G, 0.0)
    for i, mates in enumerate(lists):
        G[i, mates] = D[i, mates]
        G[mates, i] = D[i, mates]
    for via in range(n):
        G = np.minimum(G, G[:, via, None] + G[None, via, :])
    return np.minimum(G, G.T)


def geodesics(squares, k):
    """D_G of the connected graph, and the neighbour lists with the k' that connects it."""
    while True:
        lists = neighbour_lists(squares, k)
        G = shortest_paths(np.sqrt(squares), lists)
        if np.isfinite(G).all():
            return G, lists
        k += 2


def mean_ratio(R, members):
    return R[np.ix_(members, members)].mean()


def first_below(values, bound):
    """The position of the first value that is below the bound or equal to it but for rounding."""
    return next(i for i, value in enumerate(values) if value <= bound + ROUNDING * abs(bound))


def seeds(G, patch):
    """The farthest pair: first maximum in column-major order, (row, column)."""
    inside = G[np.ix_(patch, patch)].flatten(order="F")
    place = first_below(-inside, -inside.max())
    return patch[place % len(patch)], patch[place // len(patch)]


def reach(side, unassigned, lists):
    """Unassigned samples among the neighbours of any sample of a side, in index order."""
    return [i for i in unassigned if any(i in lists[member] for member in side)]


def closest(G, seed, unassigned):
    distance = [G[i, seed] for i in unassigned]
    return unassigned[first_below(distance, min(distance))]


def deal(left, right, unassigned):
    """Nobody has candidates: the rest goes to the smaller side in index order."""
    for i in unassigned:
        (left if len(left) < len(right) else right).append(i)


def join_contested(left, right, contested, R):
    """Candidates of both sides: to a lone seed first, else to the side with the smaller ratio."""
    for i in contested:
        if len(left) == 1:
            left.append(i)
        elif len(right) == 1:
            right.append(i)
        else:
            limit = mean_ratio(R, right) * (1 - ROUNDING)
            (left if mean_ratio(R, left) < limit else right).append(i)


def cut(patch, G, R, lists):
    """One patch in two."""
    left, right = ([seed] for seed in seeds(G, patch))
    unassigned = [i for i in patch if i not in left + right]
    while unassigned:
        to_left, to_right = reach(left, unassigned, lists), reach(right, unassigned, lists)
        for side, candidates, needed in ((left, to_left, 2), (right, to_right, 1)):
            if not candidates and len(side) == 1 and len(unassigned) >= needed:
                gift = closest(G, side[0], unassigned)
                side.append(gift)
                unassigned.remove(gift)
        if not to_left and not to_right:
            deal(left, right, unassigned)
            break
        to_left = [i for i in to_left if i in unassigned]
        to_right = [i for i in to_right if i in unassigned]
        contested = [i for i in to_left if i in to_right]
        left += [i for i in to_left if i not in contested]
        right += [i for i in to_right if i not in contested]
        join_contested(left, right, contested, R)
        unassigned = [i for i in unassigned if i not in left + right]
    return sorted(left), sorted(right)


def all_levels(X, k=6, most=10):
    """The levels of one class, from the class itself to patches of fewer than `most` samples, and
    how far from flat each is. A patch is a list of row numbers of X."""
    squares = squared_distances(X)
    D = np.sqrt(squares)
    G, lists = geodesics(squares, k)
    with np.errstate(invalid="ignore", divide="ignore"):
        R = np.where(D > 0, G / D, 1.0)
    levels = [[list(range(len(X)))]]
    while True:
        current = levels[-1]
        sizes = [len(patch) for patch in current]
        if max(sizes) < most:
            break
        chosen = max(i for i, size in enumerate(sizes) if size == max(sizes))
        left, right = cut(current[chosen], G, R, lists)
        levels.append([left, right] + current[:chosen] + current[chosen + 1:])
    scores = [abs(np.mean([mean_ratio(R, patch) for patch in level]) - 1) for level in levels]
    return levels, scores


def patches(X, k=6, most=10):
    """The patches of one class: the flattest level, the first of equals."""
    levels, scores = all_levels(X, k, most)
    return levels[next(i for i, score in enumerate(scores) if score <= min(scores) + ROUNDING)]
