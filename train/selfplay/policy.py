"""The network as a policy of sb3-contrib, for `load`, `predict` and anything else that expects one."""

from __future__ import annotations

from typing import Any

import torch
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy

from agents.neural.network import Trunk


class TonkPolicy(MaskableActorCriticPolicy):
    """Masked policy and value on one shared trunk. The dense path: plain torch, with autograd, and slow."""

    def __init__(self, *args: Any, layers: tuple[int, ...] = (256, 256), **kwargs: Any):
        self.layers = tuple(layers)
        kwargs.setdefault("optimizer_kwargs", {"eps": 1e-5, "fused": True})
        super().__init__(*args, **kwargs)

    def _build_mlp_extractor(self) -> None:
        self.mlp_extractor = Trunk(self.features_dim, self.layers)  # type: ignore[assignment]

    def _get_constructor_parameters(self) -> dict[str, Any]:
        parameters: dict[str, Any] = super()._get_constructor_parameters()
        return {**parameters, "layers": self.layers}

    def state(self) -> dict[str, torch.Tensor]:
        """The weights by name; memory is shared."""
        return {name: value.detach() for name, value in self.named_parameters()}
