# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times a block of a GPT by torch.compile, and prints JSON. It runs in a Python
that has torch, and is given all that it needs as options."""

import argparse
import json


def main() -> None:
    import torch
    from torch import nn
    from torch.nn import functional

    parser = argparse.ArgumentParser()
    for name in ("batch", "sequence", "width", "heads"):
        parser.add_argument(f"--{name}", type=int, required=True)
    sizes = parser.parse_args()

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            width = sizes.width
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.attention = nn.Linear(width, 3 * width)
            self.projection = nn.Linear(width, width)
            self.widen = nn.Linear(width, 4 * width)
            self.narrow = nn.Linear(4 * width, width)

        def forward(self, x):
            shape = (*x.shape[:2], sizes.heads, -1)
            query, key, value = (
                part.reshape(shape).transpose(1, 2)
                for part in self.attention(self.norm1(x)).chunk(3, dim=-1)
            )
            mixed = functional.scaled_dot_product_attention(
                query, key, value, is_causal=True
            )
            x = x + self.projection(mixed.transpose(1, 2).reshape(x.shape))
            wide = functional.gelu(self.widen(self.norm2(x)), approximate="tanh")
            return x + self.narrow(wide)

    torch.manual_seed(0)
    block = torch.compile(Block().cuda())
    shape = (sizes.batch, sizes.sequence, sizes.width)
    x = torch.randn(shape, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    gradient = torch.randn(shape, device="cuda", dtype=torch.bfloat16)

    def step():
        with torch.autocast("cuda", dtype=torch.bfloat16):
            result = block(x)
        result.backward(gradient.to(result.dtype))

    times = []
    for _ in range(30):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        step()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) / 1e3)
    seconds = sorted(times[10:])[len(times[10:]) // 2]
    print(json.dumps({"seconds": seconds, "version": torch.__version__}))


if __name__ == "__main__":
    main()
