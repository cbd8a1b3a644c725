"""Checkpoints as agents, and as files of stable-baselines3; and what happens to files that are neither."""

from __future__ import annotations

import json
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO

from agents.neural.agent import NeuralAgent
from agents.neural.checkpoint import read_checkpoint
from tonk_env import TonkTables
from tonk_env.batch import legal_rows, view_rows
from tonk_env.errors import TonkError
from tonk_env.limits import MAX_LEGAL
from tonk_env.rules import lower
from tonk_env.view import VIEW_DTYPE
from train.config import make_config
from train.run import train
from train.selfplay.ppo import SelfPlayPPO


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    config = make_config(
        {
            "run": {"name": "tiny", "total_decisions": 4096},
            "rollout": {"tables": 64, "steps": 16},
            "network": {"layers": [32, 24], "precision": "fp32"},
            "ppo": {"batch": 512},
            "evaluation": {"anchors": []},
        }
    )
    return train(config, tmp_path_factory.mktemp("runs")) / "best.zip"


def some_decisions(count: int) -> dict[str, Any]:
    """Views, legal actions and keys in the middle of hands, and the tables' own arrays of the same."""
    tables = TonkTables("pagat", 2, count, seed=9)
    rng = np.random.default_rng(4)
    for _ in range(5):
        drop_last = [
            np.flatnonzero(mask)[-1] if rng.random() < 0.9 else np.flatnonzero(mask)[0]
            for mask in tables.masks
        ]
        tables.step(np.array(drop_last))
    rows = np.arange(count)
    views, legal, num_legal = (
        np.zeros(count, VIEW_DTYPE),
        np.zeros((count, MAX_LEGAL), np.int16),
        np.zeros(count, np.int64),
    )
    view_rows(tables.tables, rows, views)
    legal_rows(tables.tables, rows, lower("pagat").record, legal, num_legal)
    keys = rng.integers(2**62, size=count)
    return {"tables": tables, "given": (views, legal, num_legal, keys)}


def take(given: tuple[np.ndarray, ...], rows: Any) -> tuple[np.ndarray, ...]:
    return tuple(np.ascontiguousarray(array[rows]) for array in given)


def test_an_agent_does_not_care_what_else_is_in_the_batch(checkpoint: Path) -> None:
    agent = NeuralAgent.load(checkpoint)
    agent.start(lower("pagat"), 2, 0)
    given = some_decisions(1200)["given"]
    together = agent.act(*given)
    assert len(set(together.tolist())) > 20
    alone = np.concatenate([agent.act(*take(given, [row])) for row in range(0, 1200, 37)])
    np.testing.assert_array_equal(alone, together[::37])
    order = np.random.default_rng(0).permutation(1200)
    np.testing.assert_array_equal(agent.act(*take(given, order)), together[order])
    halves = np.concatenate(
        [agent.act(*take(given, slice(0, 701))), agent.act(*take(given, slice(701, None)))]
    )
    np.testing.assert_array_equal(halves, together)


def test_keys_decide_unless_greedy(checkpoint: Path) -> None:
    given = some_decisions(300)["given"]
    other_keys = (*given[:3], given[3] + 1)
    sampled, greedy = NeuralAgent.load(checkpoint), NeuralAgent.load(checkpoint, greedy=True)
    for agent in (sampled, greedy):
        agent.start(lower("pagat"), 2, 0)
    assert (sampled.act(*given) != sampled.act(*other_keys)).any()
    np.testing.assert_array_equal(greedy.act(*given), greedy.act(*other_keys))
    assert sampled.name == str(checkpoint) and greedy.name == f"{checkpoint}:greedy"


@pytest.mark.parametrize("loader", [MaskablePPO, SelfPlayPPO])
def test_stable_baselines3_loads_it_and_agrees_with_the_agent(
    checkpoint: Path, loader: type[MaskablePPO]
) -> None:
    agent = NeuralAgent.load(checkpoint, greedy=True)
    agent.start(lower("pagat"), 2, 0)
    decisions = some_decisions(200)
    tables = decisions["tables"]
    model = loader.load(checkpoint)
    actions, _ = model.predict(tables.observations, action_masks=tables.masks, deterministic=True)
    assert (actions == agent.act(*decisions["given"])).mean() > 0.99  # but for ties at the last bit


def rewritten(checkpoint: Path, to: Path, **members: bytes | None) -> Path:
    """A copy of the checkpoint with members replaced, or left out where None."""
    names = {name.replace(".", "_"): name for name in zipfile.ZipFile(checkpoint).namelist()}
    with zipfile.ZipFile(checkpoint) as old, zipfile.ZipFile(to, "w") as new:
        for short, name in names.items():
            data = members.get(short, old.read(name))
            if data is not None:
                new.writestr(name, data)
    return to


class Bomb:
    """Unpickling it leaves a file behind."""

    def __init__(self, place: Path):
        self.place = place

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.place,)


@pytest.mark.filterwarnings("ignore:Detected pickle protocol")
def test_a_malicious_pickle_does_nothing(checkpoint: Path, tmp_path: Path) -> None:
    place = tmp_path / "boom"
    pickle.loads(pickle.dumps(Bomb(place)))
    assert place.exists()  # the bomb works
    place.unlink()
    # In the member that stable-baselines3 unpickles: the agent plays, and never looks.
    armed = {
        "policy_class": {
            ":type:": "x",
            ":serialized:": __import__("base64").b64encode(pickle.dumps(Bomb(place))).decode(),
        }
    }
    agent = NeuralAgent.load(rewritten(checkpoint, tmp_path / "data.zip", data=json.dumps(armed).encode()))
    agent.start(lower("pagat"), 2, 0)
    assert len(agent.act(*some_decisions(3)["given"])) == 3
    # In the weights: refused.
    bomb = tmp_path / "bomb.pth"
    torch.save({"action_net.weight": Bomb(place)}, bomb)
    with pytest.raises(TonkError, match="holds no weights"):
        NeuralAgent.load(rewritten(checkpoint, tmp_path / "weights.zip", policy_pth=bomb.read_bytes()))
    with pytest.raises(TonkError, match="holds no weights"):
        NeuralAgent.load(rewritten(checkpoint, tmp_path / "raw.zip", policy_pth=pickle.dumps(Bomb(place))))
    assert not place.exists()


def test_files_that_are_no_checkpoints_are_refused_in_one_line(checkpoint: Path, tmp_path: Path) -> None:
    def refused(path: Path, why: str) -> None:
        with pytest.raises(TonkError, match=why) as error:
            NeuralAgent.load(path)
        assert "\n" not in str(error.value) and str(path) in str(error.value)

    refused(tmp_path / "nowhere.zip", "cannot be read: No such file")
    text = tmp_path / "text.zip"
    text.write_text("hello")
    refused(text, "not a checkpoint, or damaged")
    half = tmp_path / "half.zip"
    half.write_bytes(checkpoint.read_bytes()[:20_000])
    refused(half, "not a checkpoint, or damaged")
    flipped = bytearray(checkpoint.read_bytes())
    at = flipped.index(b"policy.pth") + 5_000
    flipped[at] ^= 0xFF
    spoiled = tmp_path / "spoiled.zip"
    spoiled.write_bytes(flipped)
    refused(spoiled, "not a checkpoint, or damaged")
    refused(rewritten(checkpoint, tmp_path / "a.zip", tonk_json=None), "holds no tonk.json")
    refused(rewritten(checkpoint, tmp_path / "b.zip", policy_pth=None), "holds no policy.pth")
    refused(rewritten(checkpoint, tmp_path / "c.zip", tonk_json=b"[1]"), "not a manifest")
    refused(
        rewritten(checkpoint, tmp_path / "d.zip", tonk_json=b'{"format": "tonk-checkpoint/9"}'),
        "written in format",
    )
    refused(
        rewritten(checkpoint, tmp_path / "e.zip", tonk_json=b'{"format": "tonk-checkpoint/1"}'),
        "name: Field required",
    )

    def with_weights(name: str, change: Any) -> Path:
        with zipfile.ZipFile(checkpoint) as archive, archive.open("policy.pth") as stream:
            state = torch.load(stream, weights_only=True)
        change(state)
        torch.save(state, tmp_path / "changed.pth")
        return rewritten(checkpoint, tmp_path / name, policy_pth=(tmp_path / "changed.pth").read_bytes())

    refused(
        with_weights("f.zip", lambda state: state.pop("value_net.bias")),
        "is of another network: no 'value_net.bias'",
    )
    refused(
        with_weights("g.zip", lambda state: state.update({"value_net.bias": torch.zeros(3)})),
        r"a weight has shape \(3,\), not \(1,\)",
    )
    refused(
        with_weights("h.zip", lambda state: state["value_net.bias"].fill_(float("nan"))),
        "numbers that are not finite",
    )
    refused(with_weights("i.zip", lambda state: state.update({"action_net.weight": 7})), "holds no weights")


def test_other_actions_or_observations_are_refused_and_other_rules_warn(
    checkpoint: Path, tmp_path: Path
) -> None:
    agent = NeuralAgent.load(checkpoint)
    with pytest.raises(
        TonkError, match="3 players at these rules see other observations; it was trained on pagat"
    ):
        agent.start(lower("pagat"), 3, 0)
    with pytest.raises(TonkError, match="another action table"):
        agent.start(lower("toy_2s4r"), 2, 0)
    with pytest.warns(UserWarning, match="other rules than in training"):
        agent.start(lower("pagat_waiting"), 2, 0)
    manifest, _ = read_checkpoint(checkpoint)
    assert manifest.rules_fingerprint == lower("pagat").fingerprint and manifest.precision == "fp32"
    # A manifest that claims another game than its network fits is caught too.
    other = lower("toy_2s4r")
    data = {**manifest.model_dump(), "actions_fingerprint": other.actions_fingerprint}
    from tonk_env.observe import layout

    data["observation_fingerprint"] = layout(other, 2).fingerprint
    liar = NeuralAgent.load(rewritten(checkpoint, tmp_path / "liar.zip", tonk_json=json.dumps(data).encode()))
    with pytest.raises(TonkError, match="does not fit what its manifest says"):
        liar.start(other, 2, 0)
