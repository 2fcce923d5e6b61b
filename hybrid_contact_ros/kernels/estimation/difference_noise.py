"""The noise of values that motion changes smoothly, from differences of third order over unevenly spaced times."""

from __future__ import annotations

import math

from hybrid_contact_ros.kernels.compiling import kernel

ORDER = 3
"""Of the differences."""


@kernel
def difference_noise(
    # constants:
    step, longest, fewest, median,
    # inputs:
    times, values,
    # scratch:
    weights, left,
    # out:
    sigma,
):  # fmt: skip
    """Write the standard deviation of the noise in each coordinate: the median of |Σ wₖ xₖ| / ‖w‖ over ``median``.

    Divided differences Σ wₖ xₖ with wₖ = 1/∏ⱼ(tₖ − tⱼ), of values that are ``step`` apart, leave nothing of a
    quadratic. Those that span more than ``longest`` s are left out; with fewer than ``fewest`` the answer is 0.

    Args:
        median: of |x|, x of variance 1. times: (k,) s, ascending. values: (k, n).
        weights: (ORDER + 1, k), left: (k,), scratch. sigma: out (n,).
    """
    count = 0
    for i in range(times.shape[0] - ORDER * step):
        span = times[i + ORDER * step] - times[i]
        size = 0.0
        for a in range(ORDER + 1):
            weight = 1.0
            for b in range(ORDER + 1):
                if b != a:  # in parts of the span, so that nothing becomes large
                    weight *= span / (times[i + a * step] - times[i + b * step])
            weights[a, i] = weight
            size += weight * weight
        size = math.sqrt(size)
        for a in range(ORDER + 1):
            # One that spans a pause has no weights.
            weights[a, i] = weights[a, i] / size if span <= longest else math.nan
        count += span <= longest
    for j in range(values.shape[1]):
        sigma[j] = 0.0
        if count < fewest:
            continue
        found = 0
        for i in range(times.shape[0] - ORDER * step):
            if weights[0, i] == weights[0, i]:
                total = 0.0
                for a in range(ORDER + 1):
                    total += weights[a, i] * values[i + a * step, j]
                left[found] = abs(total)
                found += 1
        sigma[j] = _median(count, left) / median


@kernel
def third_difference(t, ta, tb, tc):
    """The weights w of a divided difference of third order over four times, s, tc the first of them, in parts of the
    span t − tc so that nothing becomes large; and ‖w‖. Σ wₖ xₖ leaves nothing of a quadratic, and of white noise as
    much as ‖w‖ times its deviation."""
    cube = (t - tc) ** 3
    w = cube / ((t - ta) * (t - tb) * (t - tc))
    wa = cube / ((ta - t) * (ta - tb) * (ta - tc))
    wb = cube / ((tb - t) * (tb - ta) * (tb - tc))
    wc = cube / ((tc - t) * (tc - ta) * (tc - tb))
    return w, wa, wb, wc, math.sqrt(w * w + wa * wa + wb * wb + wc * wc)


@kernel
def _median(count, x):
    """The median of the first ``count`` entries, which are reordered."""
    middle = count // 2
    low, high = 0, count - 1
    while low < high:  # Hoare's selection: what is below ``low`` is no larger, what is above ``high`` no smaller
        pivot = x[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while x[i] < pivot:
                i += 1
            while x[j] > pivot:
                j -= 1
            if i <= j:
                x[i], x[j] = x[j], x[i]
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            break
    if count % 2:
        return x[middle]
    below = x[0]
    for i in range(1, middle):
        below = max(below, x[i])
    return 0.5 * (below + x[middle])
