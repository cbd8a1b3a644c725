"""Compiled kernels around the network: sparse rows in, legal actions out.

Observations are about fifty non-zeros of four hundred, and five to eight of several hundred actions are
legal. So rows travel as lists: row `n` of a list owns `items[starts[n]:starts[n + 1]]`, in ascending order.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tonk_env._jit import jit, jit_sums, mix
from tonk_env.observe import observe

Floats = NDArray[np.float32]


@jit
def append_observations(
    observations: Floats, indices: NDArray[np.uint16], values: Floats, starts: NDArray[np.int64], row: int
) -> None:
    """Appends the non-zeros of `observations` as rows `row, row + 1, …`.

    Args:
        observations: `[B, O]`.
        indices: `[capacity]`, with room for `B * O + 1` more after `starts[row]`.
        values: `[capacity]`, the values at `indices`.
        starts: `[rows + 1]`, set up to `row`.
        row: where to append.
    """
    size = observations.shape[1]
    k = starts[row]
    for b in range(observations.shape[0]):
        first = k
        for o in range(size):
            # Without a branch: most features are zero, but which ones is unpredictable.
            indices[k] = o
            k += np.int64(observations[b, o] != 0)
        for j in range(first, k):
            values[j] = observations[b, np.int64(indices[j])]
        starts[row + b + 1] = k


@jit
def append_legal(
    masks: NDArray[np.uint8], actions: NDArray[np.uint16], starts: NDArray[np.int64], row: int
) -> None:
    """Appends the legal actions (non-zeros of `masks`, `[B, A]`) as rows `row, row + 1, …`."""
    size = masks.shape[1]
    k = starts[row]
    for b in range(masks.shape[0]):
        for a in range(size):
            actions[k] = a
            k += np.int64(masks[b, a] != 0)
        starts[row + b + 1] = k


@jit
def take_rows(
    indices: NDArray[np.uint16],
    values: Floats,
    starts: NDArray[np.int64],
    rows: NDArray[np.int64],
    taken_indices: NDArray[np.int32],
    taken_values: Floats,
    taken_starts: NDArray[np.int32],
) -> int:
    """Copies some rows of a list, one after the other; returns how many items they hold in all."""
    k = 0
    for n in range(rows.shape[0]):
        taken_starts[n] = k
        for j in range(starts[rows[n]], starts[rows[n] + 1]):
            taken_indices[k] = indices[j]
            taken_values[k] = values[j]
            k += 1
    taken_starts[rows.shape[0]] = k
    return k


@jit
def fill_keys(seed: int, step: int, keys: NDArray[np.int64]) -> None:
    """Sets `keys[n]` to random bits fixed by (seed, step, n), so a stream can be taken up anywhere."""
    for n in range(keys.shape[0]):
        keys[n] = mix(mix(seed, step), n)


@jit
def pack_legal(
    legal: NDArray[np.int16],
    num_legal: NDArray[np.int64],
    actions: NDArray[np.uint16],
    starts: NDArray[np.int64],
) -> None:
    """Turns the first `num_legal[n]` of each row of `legal`, `[N, most]`, into lists."""
    k = 0
    for n in range(legal.shape[0]):
        starts[n] = k
        for j in range(num_legal[n]):
            actions[k] = legal[n, j]
            k += 1
    starts[legal.shape[0]] = k


@jit
def observe_rows(
    views: NDArray[np.void],
    rules: NDArray[np.void],
    starts: NDArray[np.int32],
    observations: Floats,
) -> None:
    """Writes views, `[N]` VIEW_DTYPE, as the first N rows of `observations`; `starts` is the layout's."""
    for n in range(views.shape[0]):
        observe(views, n, rules, starts, observations, n)


@jit_sums
def choose(
    hidden: Floats,
    legal: NDArray[np.uint16],
    starts: NDArray[np.int64],
    row: int,
    policy_weight: Floats,
    policy_bias: Floats,
    keys: NDArray[np.int64],
    greedy: bool,
    logits: Floats,
    actions: NDArray[np.int32],
    log_probs: Floats,
) -> None:
    """Draws one legal action per row from the softmax over its legal actions.

    Args:
        hidden: `[N, H]`, the last layer of the trunk.
        legal: legal actions, in lists.
        starts: where each row's list starts.
        row: the list of `hidden[n]` is number `row + n`; it is not empty.
        policy_weight: `[A, H]`.
        policy_bias: `[A]`.
        keys: `[N]`, a random key each, not negative.
        greedy: take the likeliest action (the first of equals) instead of drawing.
        logits: `[A]`, working space.
        actions: `[N]`, overwritten.
        log_probs: `[N]`, overwritten with the logarithm of the chosen action's probability.
    """
    size = hidden.shape[1]
    for n in range(hidden.shape[0]):
        first = starts[row + n]
        count = starts[row + n + 1] - first
        highest = np.float32(-np.inf)
        best = 0
        for k in range(count):
            action = np.int64(legal[first + k])
            logit = policy_bias[action]
            for j in range(size):
                logit += hidden[n, j] * policy_weight[action, j]
            logits[k] = logit
            if logit > highest:
                highest = logit
                best = k
        total = np.float32(0)
        for k in range(count):
            total += np.exp(logits[k] - highest)
        chosen = best
        if not greedy:
            # The last action takes what rounding leaves over.
            chosen = count - 1
            # 53 of the key's 63 bits, scrambled once more: keys may come from anybody's counter.
            left = np.float32((mix(keys[n], 0) >> 10) * 2.0**-53) * total
            for k in range(count):
                left -= np.exp(logits[k] - highest)
                if left < 0:
                    chosen = k
                    break
        actions[n] = np.int64(legal[first + chosen])
        log_probs[n] = logits[chosen] - highest - np.log(total)
