"""Compiled kernels of the learner: the loss at the legal actions, and the returns of every seat."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tonk_env._jit import jit, jit_sums

Floats = NDArray[np.float32]

PG_LOSS, VALUE_LOSS, ENTROPY, CLIPPED, KL = range(5)
"""Places in `stats`, each a sum over decisions."""
NUM_STATS = 5


@jit
def returns_per_seat(
    seats: NDArray[np.int8],
    values: Floats,
    ended: NDArray[np.uint8],
    payments: Floats,
    last_seats: NDArray[np.int8],
    last_values: Floats,
    discount: float,
    trace: float,
    kind: NDArray[np.int8],
    following: NDArray[np.float64],
    advantage: NDArray[np.float64],
    advantages: Floats,
    returns: Floats,
) -> None:
    """Generalised advantages along each seat's own decisions, although the seats' turns interleave.

    The only reward is the payment when the hand ends, and it goes to every seat's last decision of that hand.
    A decision is followed by the same seat's next one in the same hand. At the end of the rollout the seat to
    move knows the value of its next decision; a seat that is not to move stands by its own last value, so
    that decision has advantage zero. A payment to a seat that made no decision of that hand in this rollout
    is dropped.

    Args:
        seats: `[T, B]`, who decided.
        values: `[T, B]`, the decider's value before the decision.
        ended: `[T, B]`, whether the decision ended the hand.
        payments: `[T, B, P]`, in stakes, where it did.
        last_seats: `[B]`, who is to move after the rollout.
        last_values: `[B]`, that seat's value.
        discount: gamma, per own decision.
        trace: lambda of GAE.
        kind: `[P]`, working space: what follows, by seat: nothing known (0), a value (1) or a payment (2).
        following: `[P]`, working space: that value or payment.
        advantage: `[P]`, working space: of that value's decision.
        advantages: `[T, B]`, overwritten.
        returns: `[T, B]`, overwritten with advantage plus value.

    Source: Schulman et al. 2016, arXiv 1506.02438, equation 16.
    """
    steps, tables = seats.shape
    num_players = payments.shape[2]
    for b in range(tables):
        kind[:] = 0
        advantage[:] = 0.0
        kind[last_seats[b]] = 1
        following[last_seats[b]] = last_values[b]
        for t in range(steps - 1, -1, -1):
            if ended[t, b]:
                for p in range(num_players):
                    kind[p] = 2
                    following[p] = payments[t, b, p]
            p = seats[t, b]
            value = np.float64(values[t, b])
            if kind[p] == 1:
                advantage[p] = discount * following[p] - value + discount * trace * advantage[p]
            elif kind[p] == 2:
                advantage[p] = following[p] - value
            else:
                advantage[p] = 0.0
            advantages[t, b] = advantage[p]
            returns[t, b] = advantage[p] + value
            kind[p] = 1
            following[p] = value


@jit_sums
def policy_and_value_loss(
    rows: NDArray[np.int64],
    legal: NDArray[np.uint16],
    starts: NDArray[np.int64],
    actions: NDArray[np.int32],
    old_log_probs: Floats,
    advantages: Floats,
    returns: Floats,
    advantage_mean: float,
    advantage_scale: float,
    clip_range: float,
    entropy_coef: float,
    value_coef: float,
    scale: float,
    hidden: Floats,
    policy_weight: Floats,
    policy_bias: Floats,
    value_weight: Floats,
    value_bias: Floats,
    hidden_bias_grad: Floats,
    policy_weight_grad: Floats,
    policy_bias_grad: Floats,
    value_weight_grad: Floats,
    value_bias_grad: Floats,
    logits: Floats,
    hidden_grad: Floats,
    stats: NDArray[np.float64],
) -> None:
    """PPO's loss, and its gradient at both heads and at the trunk's last layer, in one pass over the rows.

    The loss of one decision is

        -min(ratio * A, clip(ratio) * A) - entropy_coef * entropy + value_coef * (return - value)²

    with `A = (advantage - advantage_mean) * advantage_scale`; the loss of the batch is the mean, so each row
    counts `scale = 1 / batch size`. Only legal actions are looked at.

    Args:
        rows: `[N]`, which decisions of the rollout; `hidden[n]` belongs to `rows[n]`.
        legal: legal actions, in lists.
        starts: where each decision's list starts.
        actions: `[T * B]`, what was done.
        old_log_probs: `[T * B]`, with which log probability.
        advantages: `[T * B]`, as `returns_per_seat` gave them.
        returns: `[T * B]`, the value's target.
        advantage_mean: mean over the batch.
        advantage_scale: one over the standard deviation over the batch.
        clip_range: how far from 1 the ratio of probabilities is let go.
        entropy_coef: weight of the entropy bonus.
        value_coef: weight of the value's squared error.
        scale: one over the number of decisions in the batch.
        hidden: `[N, H]`, the trunk's last layer, `max(input, 0)`; becomes the gradient at that input.
        policy_weight: `[A, H]`.
        policy_bias: `[A]`.
        value_weight: `[1, H]`.
        value_bias: `[1]`.
        hidden_bias_grad: `[H]`, of the bias within that input; added to.
        policy_weight_grad: `[A, H]`, added to.
        policy_bias_grad: `[A]`, added to.
        value_weight_grad: `[1, H]`, added to.
        value_bias_grad: `[1]`, added to.
        logits: `[2, A]`, working space.
        hidden_grad: `[H]`, working space.
        stats: `[NUM_STATS]`, added to.

    Source: Schulman et al. 2017, arXiv 1707.06347; the logged quantities are those of stable-baselines3.
    """
    size = hidden.shape[1]
    for n in range(rows.shape[0]):
        r = rows[n]
        first = starts[r]
        count = starts[r + 1] - first

        value = value_bias[0]
        for j in range(size):
            value += hidden[n, j] * value_weight[0, j]

        highest = np.float32(-np.inf)
        chosen = 0
        for k in range(count):
            action = np.int64(legal[first + k])
            logit = policy_bias[action]
            for j in range(size):
                logit += hidden[n, j] * policy_weight[action, j]
            logits[0, k] = logit
            highest = max(highest, logit)
            if action == actions[r]:
                chosen = k
        total = np.float32(0)
        for k in range(count):
            logits[1, k] = np.exp(logits[0, k] - highest)
            total += logits[1, k]
        log_total = highest + np.log(total)
        entropy = np.float32(0)
        for k in range(count):
            logits[0, k] -= log_total  # now log probabilities,
            logits[1, k] /= total  # and probabilities
            entropy -= logits[1, k] * logits[0, k]

        log_ratio = logits[0, chosen] - old_log_probs[r]
        ratio = np.exp(log_ratio)
        advantage = np.float32((advantages[r] - advantage_mean) * advantage_scale)
        clipped = min(max(ratio, np.float32(1 - clip_range)), np.float32(1 + clip_range))
        pushed = np.float32(0)
        if advantage * ratio <= advantage * clipped:
            pushed = np.float32(-advantage * ratio * scale)
        error = value - returns[r]
        value_push = np.float32(2 * value_coef * scale) * error

        stats[PG_LOSS] -= min(advantage * ratio, advantage * clipped)
        stats[VALUE_LOSS] += error * error
        stats[ENTROPY] += entropy
        stats[CLIPPED] += np.abs(ratio - 1) > clip_range
        stats[KL] += ratio - 1 - log_ratio

        value_bias_grad[0] += value_push
        for j in range(size):
            hidden_grad[j] = value_push * value_weight[0, j]
            value_weight_grad[0, j] += value_push * hidden[n, j]
        for k in range(count):
            action = np.int64(legal[first + k])
            probability = logits[1, k]
            push = (
                np.float32(entropy_coef * scale) * probability * (logits[0, k] + entropy)
                - pushed * probability
            )
            if k == chosen:
                push += pushed
            policy_bias_grad[action] += push
            for j in range(size):
                hidden_grad[j] += push * policy_weight[action, j]
                policy_weight_grad[action, j] += push * hidden[n, j]
        for j in range(size):
            hidden[n, j] = hidden_grad[j] if hidden[n, j] > 0 else np.float32(0)
            hidden_bias_grad[j] += hidden[n, j]


@jit
def rectifier_backward(grad: Floats, output: Floats, bias_grad: Floats) -> None:
    """Takes a gradient back through `output = max(input, 0)`.

    Args:
        grad: `[N or more, H]`, the gradient at `output`.
        output: `[N, H]`; becomes the gradient at `input`.
        bias_grad: `[H]`, of the bias within `input`; added to.
    """
    for n in range(output.shape[0]):
        for j in range(output.shape[1]):
            output[n, j] = grad[n, j] if output[n, j] > 0 else np.float32(0)
            bias_grad[j] += output[n, j]


@jit
def transpose_rows(
    indices: NDArray[np.int32],
    values: Floats,
    starts: NDArray[np.int32],
    count: int,
    transposed_rows: NDArray[np.int32],
    transposed_values: Floats,
    transposed_starts: NDArray[np.int32],
) -> None:
    """Turns lists of features per row into lists of rows per feature (a counting sort).

    Args:
        indices: features, in lists.
        values: their values.
        starts: `[count + 1]` or more.
        count: number of rows.
        transposed_rows: as long as `indices`; overwritten.
        transposed_values: likewise.
        transposed_starts: `[O + 1]`; overwritten.
    """
    features = transposed_starts.shape[0] - 1
    transposed_starts[:] = 0
    for k in range(starts[count]):
        transposed_starts[indices[k] + 1] += 1
    for o in range(features):
        transposed_starts[o + 1] += transposed_starts[o]
    for n in range(count):
        for k in range(starts[n], starts[n + 1]):
            place = transposed_starts[indices[k]]
            transposed_rows[place] = n
            transposed_values[place] = values[k]
            transposed_starts[indices[k]] = place + 1
    for o in range(features, 0, -1):  # each start has moved on to the next one's: move them back
        transposed_starts[o] = transposed_starts[o - 1]
    transposed_starts[0] = 0
