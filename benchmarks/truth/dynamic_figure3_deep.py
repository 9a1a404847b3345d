"""Figures 3a and 5a of [SAH23] at full size: 25 rounds of a small CNN on all of CIFAR-10.

Runs from a plain checkout with torch and NumPy alone. Two base models are trained on all 50,000
training images; each keeps the images it gets right, which makes the problem realisable. From each,
rollouts of a path benchmark are drawn: every rollout has its own initial weights, its own order of
batches and its own dropout. All predictions are saved, so that every figure can be made again::

    python -m benchmarks.truth.dynamic_figure3_deep run --cifar cifar10_60k_jpeg.npz --to out/fig3
    python -m benchmarks.truth.dynamic_figure3 --from out/fig3 [--write]

``run`` stops before ``--minutes`` are over and goes on from the files under ``--from`` (or
``--to``). With ``--fit MINUTES`` the first call chooses the number of rollouts that fits into so
many minutes.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from benchmarks.truth.cifar_jpeg import cifar
from benchmarks.truth.dynamic_figure3_files import load_base, save_base
from benchmarks.truth.dynamic_figure3_stack_deep import Plan, Stack, Trainer, patches_of


def base_models(plan: Plan, data: tuple[Tensor, Tensor]) -> list[np.ndarray]:
    """Train the base models on everything; return the items that each gets right."""
    patches, labels = data
    device = patches.device.type
    stack = Stack(plan.bases, plan, device, compiled=False)
    own = torch.arange(len(patches), device=device).expand(plan.bases, -1).contiguous()
    counts = torch.full((plan.bases,), len(patches), device=device)
    trainer = Trainer(stack, data, own, counts)
    trainer.train(torch.ones(own.shape, device=device), plan.seed)
    right = trainer.predict() == labels.cpu().numpy()
    return [np.flatnonzero(row) for row in right]


class Rollouts:
    """The rollouts of all base models in one stack, and what they have predicted so far."""

    def __init__(self, plan: Plan, data: tuple[Tensor, Tensor], kept: list[np.ndarray]) -> None:
        self.plan, self.kept = plan, kept
        device, sizes = data[0].device.type, [len(each) for each in kept]
        rows = [np.pad(each, (0, max(sizes) - len(each)), mode="edge") for each in kept]
        own = torch.as_tensor(np.repeat(rows, plan.rollouts, axis=0), device=device)
        counts = torch.as_tensor(np.repeat(sizes, plan.rollouts), device=device)
        stack = Stack(plan.bases * plan.rollouts, plan, device, compiled=True)
        self.trainer = Trainer(stack, data, own, counts)
        self.truth = [data[1].cpu().numpy()[each].astype(np.int8) for each in kept]
        self.done = [np.empty((plan.rollouts, 0, size), np.int8) for size in sizes]

    def weights(self) -> Tensor:
        """Return D_t of every rollout, scaled to mean one: D_0 and each earlier error set alike.

        An empty error set adds D_0 again: nothing is left to collect.
        """
        out = torch.zeros(self.trainer.own.shape)
        for b, (done, truth) in enumerate(zip(self.done, self.truth, strict=True)):
            size = len(truth)
            total = np.ones((len(done), size))
            for t in range(done.shape[1]):
                wrong = done[:, t] != truth
                count = wrong.sum(1, keepdims=True)
                total += np.where(count > 0, size * wrong / np.maximum(count, 1), 1.0)
            rows = slice(b * self.plan.rollouts, (b + 1) * self.plan.rollouts)
            out[rows, :size] = torch.as_tensor(total / (done.shape[1] + 1), dtype=torch.float32)
        return out.to(self.trainer.own.device)

    def round(self) -> None:
        """Train one more model of every rollout and keep its predictions."""
        t = self.done[0].shape[1]
        self.trainer.train(self.weights(), self.plan.seed + 1000 * (t + 1))
        calls = self.trainer.predict()
        for b, size in enumerate(map(len, self.kept)):
            rows = calls[b * self.plan.rollouts : (b + 1) * self.plan.rollouts, None, :size]
            self.done[b] = np.concatenate([self.done[b], rows], axis=1)

    def seconds_per_round(self, steps: int = 40) -> float:
        """Estimate how long a round takes from a few steps."""
        self.trainer.train(self.weights(), 0, epochs=0)  # compiles and records
        self.trainer.index.random_(int(self.trainer.counts.min()))
        _wait(self.trainer.own.device.type)
        begin = time.perf_counter()
        for _ in range(steps):
            if self.trainer.advance is not None:
                self.trainer.advance()
        _wait(self.trainer.own.device.type)
        a_step = (time.perf_counter() - begin) / steps
        return a_step * self.trainer.steps * self.plan.epochs


def run(plan: Plan, source: Path, to: Path, options: argparse.Namespace) -> None:
    """Go on from what is there, one round of all rollouts after the other, until time is over."""
    start = time.perf_counter()
    data = load(options.cifar, plan, options.device)
    note(f"images on the device: {len(data[0]):,}", start)
    files = [source / f"figure3_base{b}.npz" for b in range(plan.bases)]
    if all(file.exists() for file in files):
        saved = [load_base(file) for file in files]
        plan = Plan(**json.loads(saved[0].plan))
        if plan.images != len(data[0]):
            raise SystemExit(
                f"the saved run used {plan.images} images: give --images {plan.images}"
            )
        rollouts = Rollouts(plan, data, [each.kept for each in saved])
        rollouts.done = [each.predictions for each in saved]
        note(f"resumed after round {rollouts.done[0].shape[1]}", start)
    else:
        kept = base_models(plan, data)
        shares = ", ".join(f"{len(each):,} ({len(each) / plan.images:.3f})" for each in kept)
        note(f"base models keep {shares}", start)
        rollouts = Rollouts(plan, data, kept)
        if options.fit:
            rollouts = fitting(rollouts, data, options.fit, start)
        plan = rollouts.plan

    stamps = [time.perf_counter()]
    while rollouts.done[0].shape[1] < plan.rounds:
        longest = max(np.diff(stamps), default=0.0)
        if time.perf_counter() - start + 1.1 * longest > 60 * options.minutes:
            break
        rollouts.round()
        for b, file in enumerate(files):
            save_base(
                to / file.name,
                predictions=rollouts.done[b],
                labels=rollouts.truth[b],
                kept=rollouts.kept[b],
                plan=json.dumps(asdict(plan)),
            )
        stamps.append(time.perf_counter())
        risks = [np.mean(d[:, -1] != t) for d, t in zip(rollouts.done, rollouts.truth, strict=True)]
        shown = ", ".join(f"{risk:.4f}" for risk in risks)
        note(f"round {rollouts.done[0].shape[1]}: risk of its models {shown}", start)
    done = rollouts.done[0].shape[1]
    facts = {
        "plan": asdict(plan),
        "kept": [len(each) for each in rollouts.kept],
        "rounds_done": done,
        "seconds_a_round": [round(float(s), 2) for s in np.diff(stamps)],
        "device": torch.cuda.get_device_name() if options.device == "cuda" else "cpu",
        "torch": torch.__version__,
    }
    (to / f"figure3_facts_{done}.json").write_text(json.dumps(facts, indent=1), encoding="utf-8")
    note("complete" if done == plan.rounds else f"{plan.rounds - done} rounds are left", start)


def fitting(
    rollouts: Rollouts, data: tuple[Tensor, Tensor], minutes: float, start: float
) -> Rollouts:
    """Lower the number of rollouts, in fours, until all rounds fit into so many minutes."""
    plan = rollouts.plan
    a_round = rollouts.seconds_per_round()
    note(f"{plan.rollouts} rollouts per base model take {a_round:.1f} s a round", start)
    # A tenth on top for weights, predictions and files.
    allowed = int(plan.rollouts * 60 * minutes / (1.1 * a_round * plan.rounds)) // 4 * 4
    if allowed >= plan.rollouts:
        return rollouts
    smaller = replace(plan, rollouts=max(allowed, 4))
    note(f"cut to {smaller.rollouts} rollouts per base model", start)
    return Rollouts(smaller, data, rollouts.kept)


def chosen_images(file: Path, plan: Plan) -> tuple[np.ndarray, np.ndarray]:
    """Return the training images and labels of the plan: all of them, or a random part."""
    images, labels = cifar(file)
    chosen = np.sort(np.random.default_rng(0).permutation(len(images))[: plan.images])
    return images[chosen], labels[chosen]


def load(file: Path, plan: Plan, device: str) -> tuple[Tensor, Tensor]:
    """Return patches and labels on the device."""
    images, labels = chosen_images(file, plan)
    return patches_of(images, device), torch.as_tensor(labels, device=device)


def note(text: str, start: float) -> None:
    """Print what was done and when."""
    print(f"{time.perf_counter() - start:7.1f} s  {text}", flush=True)


def _wait(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("step", choices=["run"])
    parser.add_argument("--cifar", type=Path, required=True, help="cifar10_60k_jpeg.npz")
    parser.add_argument("--to", type=Path, required=True)
    parser.add_argument("--from", dest="source", type=Path, help="go on from here, not from --to")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--minutes", type=float, default=9.0)
    parser.add_argument("--fit", type=float, help="minutes into which all rounds must fit")
    for name in ("rollouts", "rounds", "epochs", "batch", "images"):
        parser.add_argument(f"--{name}", type=int, default=getattr(Plan(), name))
    options = parser.parse_args()
    options.to.mkdir(parents=True, exist_ok=True)
    names = ("rollouts", "rounds", "epochs", "batch", "images")
    plan = Plan(**{name: getattr(options, name) for name in names})
    torch.set_float32_matmul_precision("high")
    run(plan, options.source or options.to, options.to, options)


if __name__ == "__main__":
    main()
