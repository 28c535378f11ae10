"""Logits, greedy continuations and perplexity of a causal model in a GGUF file."""

import numpy as np
import torch

from double_oracle import as_double
from gguf_oracle import load_causal, load_tokenizer
from golden_io import HERE, save_array, save_json, versions

STEPS = 32
TOP = 32
POSITIONS = 512
MAX_CONTEXT = 1024

CHATS = {
    "smollm2": (
        "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face"
        "<|im_end|>\n<|im_start|>user\nWhat is the tallest mountain on Earth?<|im_end|>\n"
        "<|im_start|>assistant\n",
        "<|im_start|>system\nAnswer in one short sentence.<|im_end|>\n<|im_start|>user\n"
        "Hi, I am Ada.<|im_end|>\n<|im_start|>assistant\nHello Ada, how can I help you?<|im_end|>\n"
        "<|im_start|>user\nWhat is my name, and what is 12 + 30?<|im_end|>\n"
        "<|im_start|>assistant\n",
    ),
    "gemma3": (
        "<start_of_turn>user\nWhat is the tallest mountain on Earth?<end_of_turn>\n"
        "<start_of_turn>model\n",
        "<start_of_turn>user\nHi, I am Ada.<end_of_turn>\n<start_of_turn>model\nHello Ada, how can "
        "I help you?<end_of_turn>\n<start_of_turn>user\nWhat is my name, and what is 12 + 30?"
        "<end_of_turn>\n<start_of_turn>model\n",
    ),
}
# characters of perplexity.txt in the longest prompt: 289 tokens, and more than gemma3's window
LONG_PROMPT = {"smollm2": 1250, "gemma3": 2900}


def prompts(name, text):
    """Eight texts, short to long."""
    return [
        "Hello",
        "The capital of France is",
        CHATS[name][0],
        CHATS[name][1],
        'def fibonacci(n):\n    """Return the n-th Fibonacci number."""\n    if n < 2:\n',
        "Les élèves français écoutent. Привет, мир! 你好,世界 🌍 ",
        "1, 2, 4, 8, 16, 32, 64, 128, 256,",
        text[: LONG_PROMPT[name]],
    ]


def greedy(model, ids):
    """The logits after the prompt and the STEPS most likely tokens one by one, EOS or not.

    Returns logits [vocab], the new ids, and for each how far its logit is from the second best.
    """
    out = model(input_ids=torch.tensor([ids]), use_cache=True, logits_to_keep=1)
    first = out.logits[0, -1]
    chosen, margins = [], []
    for _ in range(STEPS):
        best = out.logits[0, -1].topk(2)
        chosen.append(int(best.indices[0]))
        margins.append(float(best.values[0] - best.values[1]))
        out = model(
            input_ids=torch.tensor([chosen[-1:]]), cache=out.past_key_values, use_cache=True
        )
    return first, chosen, margins


def last_logits(model, ids):
    """The logits after the last of the ids."""
    return model(input_ids=torch.tensor([ids]), logits_to_keep=1).logits[0, -1]


def mean_nll(model, ids):
    """Mean of -log p(token) over tokens 1.., each predicted from all before it."""
    logits = model(input_ids=torch.tensor([ids])).logits[0, :-1]
    losses = torch.nn.functional.cross_entropy(
        logits.double(), torch.tensor(ids[1:]), reduction="none"
    )
    return float(losses.mean())


def digits(values):
    """Enough decimal digits for float32."""
    return [float("%.9g" % value) for value in values]


def make(name, path):
    encode = load_tokenizer(path)
    model = load_causal(path)
    text = (HERE / "perplexity.txt").read_text(encoding="utf-8")
    text_ids = encode(text)
    if len(text_ids) > MAX_CONTEXT:
        raise SystemExit("perplexity.txt has %d tokens" % len(text_ids))
    cases = [{"text": prompt, "ids": encode(prompt)} for prompt in prompts(name, text)]
    logits = []
    for case in cases:
        first, chosen, margins = greedy(model, case["ids"])
        top = first.topk(TOP)
        case.update(
            continuation=chosen,
            margins=digits(margins),
            top_ids=top.indices.tolist(),
            top_logits=digits(top.values),
        )
        logits.append(first)
    nll = mean_nll(model, text_ids)

    as_double(model)
    rounding = max(
        float((last_logits(model, case["ids"]) - first).abs().max())
        for case, first in zip(cases, logits)
    )
    nll64 = mean_nll(model, text_ids)

    logits = torch.stack(logits).numpy()
    positions = np.sort(np.random.default_rng(0).choice(logits.shape[1], POSITIONS, replace=False))
    save_array(name + "_positions.npy", positions)
    save_array(name + "_logits.npy", logits[:, positions])
    save_json(
        name + ".json",
        {
            "versions": versions("torch", "transformers", "gguf", "tokenizers", "sentencepiece"),
            "file": path.name,
            "vocabulary": logits.shape[1],
            "largest_difference": {"float64": rounding},
            "perplexity": {
                "text": "perplexity.txt",
                "tokens": len(text_ids),
                "mean_nll": nll,
                "mean_nll_float64": nll64,
                "perplexity": float(np.exp(nll)),
            },
            "text_ids": text_ids,
            "prompts": cases,
        },
    )
