"""What a kernel does to a causal language model: KL divergence from PyTorch's attention.

model_kl.py MODEL TEXT_FILE: a folder of a transformers model, and a text.
"""

import sys

import torch
import transformers
import zyfa

tokenizer = transformers.AutoTokenizer.from_pretrained(sys.argv[1])
model = transformers.AutoModelForCausalLM.from_pretrained(sys.argv[1]).bfloat16().eval()
with open(sys.argv[2], encoding="utf-8") as text:
    tokens = tokenizer(text.read(), return_tensors="pt").input_ids[:, :1024]


@torch.no_grad()
def log_probabilities(implementation):
    model.set_attn_implementation(implementation)
    return model(tokens).logits.double().log_softmax(-1)


exact = log_probabilities("eager")
for precision in zyfa.PRECISIONS:
    zyfa.register_transformers(f"zyfa_{precision}", precision=precision)
    kernel = log_probabilities(f"zyfa_{precision}")
    kl = (exact.exp() * (exact - kernel)).sum(-1).mean()
    print(f"{precision:14} KL {kl:.2e} nats a token")
