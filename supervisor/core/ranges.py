"""An offset range in words."""

from supervisor.core.model import Generation


def told_offsets(generation: Generation) -> str:
    """Say which offsets a generation stands for, per partition."""
    end = generation.end
    return ", ".join(
        f"{p} from {at}" + ("" if end is None else f" to {end[p]}")
        for p, at in sorted(generation.start.items())
    )
