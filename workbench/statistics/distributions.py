"""Quantiles and tails of the normal and Student's distribution in plain Python: the app shows intervals and has no numpy."""

from __future__ import annotations

import functools
import math
from statistics import NormalDist

_TINY = 1e-300
_CLOSE = 1e-15
_MOST_TERMS = 10_000


def normal_quantile(share: float) -> float:
    """Return the value below which ``share`` of the standard normal distribution lies."""
    if not 0 < share < 1:
        raise ValueError("a quantile is of a share between 0 and 1")
    return NormalDist().inv_cdf(share)


def student_tail(value: float, freedom: float) -> float:
    """Return the share of Student's distribution above ``value``; ``freedom`` need not be whole."""
    if freedom <= 0:
        raise ValueError("Student's distribution has degrees of freedom above 0")
    half = _incomplete_beta(freedom / 2, 0.5, freedom / (freedom + value * value)) / 2
    return half if value >= 0 else 1 - half


@functools.lru_cache(maxsize=4096)
def student_quantile(share: float, freedom: float) -> float:
    """Return the value below which ``share`` of Student's distribution lies, by bisection of its tail."""
    if not 0 < share < 1:
        raise ValueError("a quantile is of a share between 0 and 1")
    if share < 0.5:
        return -student_quantile(1 - share, freedom)
    low, high = 0.0, 1.0
    while student_tail(high, freedom) > 1 - share:
        low, high = high, high * 4
    while high - low > 1e-12 * max(1.0, high):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if student_tail(middle, freedom) > 1 - share else (low, middle)
    return (low + high) / 2


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """Return the regularised incomplete beta function; Abramowitz and Stegun 26.5.8, the fraction by Lentz's method."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - _incomplete_beta(b, a, 1 - x)
    scale = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)) / a
    numerator, denominator = 1.0, 1 / _not_zero(1 - (a + b) * x / (a + 1))
    value = denominator
    for step in range(1, _MOST_TERMS):
        for term in (
            step * (b - step) * x / ((a + 2 * step - 1) * (a + 2 * step)),
            -(a + step) * (a + b + step) * x / ((a + 2 * step) * (a + 2 * step + 1)),
        ):
            denominator = 1 / _not_zero(1 + term * denominator)
            numerator = _not_zero(1 + term / numerator)
            factor = numerator * denominator
            value *= factor
        if abs(factor - 1) < _CLOSE:
            break
    return scale * value


def _not_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
