"""Which stratum to ask next: one policy a file."""

from tallystick.sampling.policies.equal import Equal
from tallystick.sampling.policies.flips import Flips
from tallystick.sampling.policies.masa import Masa
from tallystick.sampling.policies.neyman import Neyman
from tallystick.sampling.policies.policy import Policy, Rule
from tallystick.sampling.policies.proportional import Proportional
from tallystick.sampling.policies.uniform import Uniform

__all__ = ["Equal", "Flips", "Masa", "Neyman", "Policy", "Proportional", "Rule", "Uniform"]
