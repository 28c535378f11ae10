"""Times attention alone in torch: one sequence, float32.

usage: python attention.py --form flash|plain --size HEADSxDIMxTOKENS [--causal] [--threads 2]
       [--budget 2] [--serve]
plain writes the whole matrix of scores, as a model without a fused operator does.
"""

import argparse

from measure import add_arguments, limit_threads, time_and_report

parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
parser.add_argument("--form", choices=("flash", "plain"), required=True)
parser.add_argument("--size", required=True)
parser.add_argument("--causal", action="store_true")
add_arguments(parser)
args = parser.parse_args()
limit_threads(args.threads)

import torch  # noqa: E402
from torch.nn.attention import SDPBackend, sdpa_kernel  # noqa: E402


def flash(q, k, v):
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=args.causal)


def plain(q, k, v):
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    if args.causal:
        length = q.shape[-2]
        scores = scores + torch.full((length, length), float("-inf")).triu_(1)
    return torch.softmax(scores, -1) @ v


def main():
    torch.set_num_threads(args.threads)
    torch.set_grad_enabled(False)
    heads, dim, tokens = map(int, args.size.split("x"))
    q, k, v = (torch.randn(1, heads, tokens, dim) for _ in range(3))
    run = {"flash": flash, "plain": plain}[args.form]
    time_and_report(args, "attention", args.size, lambda: run(q, k, v))


if __name__ == "__main__":
    main()
