"""Makes the goldens of src/text: ids by the `tokenizers` wheel and by sentencepiece.

    python tests/golden/make_text_goldens.py MODELS_FOLDER

writes, next to this file: text_corpus.json (the texts), tokenizers_NAME.json (small tokenizers trained
here), text_ids_NAME.json (their ids, and those of the real models in MODELS_FOLDER where these are).
Needs: tokenizers, sentencepiece, gguf.
"""

import json
import pathlib
import random
import sys

import sentencepiece
import tokenizers
from sentencepiece import sentencepiece_model_pb2 as sp_model
from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers,
                        processors, trainers)

from text_corpus import corpus

HERE = pathlib.Path(__file__).parent
VERSIONS = {"tokenizers": tokenizers.__version__, "sentencepiece": sentencepiece.__version__}
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")


def write(name, value):
    lines = json.dumps(value, ensure_ascii=True, indent=None, separators=(",", ":"))
    (HERE / name).write_text(lines.replace("],[", "],\n[").replace("},{", "},\n{") + "\n")


def write_ids(name, oracle, encode, decode, bytes_ok):
    """bytes_ok: the library tells invalid bytes one by one, which the oracle cannot: left out (null)."""
    cases = []
    for text in corpus():
        string = text.decode("utf-8", "replace")
        if bytes_ok and string.encode("utf-8") != text:
            cases.append(None)
            continue
        plain, special = encode(string, False), encode(string, True)
        decoded = decode(plain)
        cases.append([plain, special, None if decoded is None else decoded.encode("utf-8").hex()])
    write(f"text_ids_{name}.json", {"oracle": oracle, "versions": VERSIONS, "cases": cases})


def write_wheel_ids(name, tokenizer, bytes_ok):
    tokenizer.no_truncation()
    tokenizer.no_padding()
    # The wheel decodes an added token matched in normalised text to that text; the library gives the
    # token's own text: not compared where the two differ.
    normalize = tokenizer.normalizer.normalize_str if tokenizer.normalizer else str
    differ = {i for i, a in tokenizer.get_added_tokens_decoder().items()
              if a.normalized and normalize(a.content) != a.content}

    def decode(ids):
        return None if differ & set(ids) else tokenizer.decode(ids, skip_special_tokens=False)

    write_ids(name, "tokenizers", lambda t, s: tokenizer.encode(t, add_special_tokens=s).ids, decode, bytes_ok)


def training_text():
    """Words of syllables, by a fixed seed, and the corpus itself."""
    rng = random.Random(7)
    syllables = [a + b + c for a in ["", "b", "d", "k", "l", "m", "n", "r", "s", "t", "st", "tr", "wh"]
                 for b in "aeiou" for c in ["", "n", "r", "s", "t", "ng"]]
    words = ["".join(rng.choices(syllables, k=rng.randint(1, 3))) for _ in range(700)]
    words += "the of and to in that it is was for on with as be at by not this have from word".split() * 8
    lines = [" ".join(rng.choices(words, k=12)).capitalize() + rng.choice([".", "!", ", 42", "?"])
             for _ in range(900)]
    return lines + [t.decode("utf-8") for t in corpus() if is_text(t)] * 4


def is_text(data):
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def added(special):
    return [AddedToken("<mask>", lstrip=True, special=True, normalized=False),
            AddedToken("word", single_word=True, special=special, normalized=False),
            AddedToken("<left>", lstrip=True), AddedToken("<right>", rstrip=True),
            AddedToken("<EXTRA>", normalized=True), AddedToken("<|im_start|>", special=True)]


def make_wordpiece():
    t = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    t.normalizer = normalizers.BertNormalizer(lowercase=False, strip_accents=True)
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    t.train_from_iterator(training_text(), trainers.WordPieceTrainer(
        vocab_size=900, limit_alphabet=400, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]))
    t.add_tokens(added(False))
    t.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    t.decoder = decoders.WordPiece()
    return t


def make_wordpiece_whitespace():
    t = Tokenizer(models.WordPiece(unk_token="<unk>", max_input_chars_per_word=20))
    t.normalizer = normalizers.Sequence([normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase(),
                                         normalizers.Strip(), normalizers.Replace(Regex("[0-9]+"), "0")])
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Digits(True),
                                               pre_tokenizers.Punctuation("contiguous")])
    t.train_from_iterator(training_text(), trainers.WordPieceTrainer(
        vocab_size=700, limit_alphabet=200, special_tokens=["<unk>", "<s>", "</s>"]))
    t.add_tokens(added(True))
    t.decoder = decoders.WordPiece(cleanup=False)
    return t


def make_bytelevel():
    t = Tokenizer(models.BPE(ignore_merges=True))
    t.normalizer = normalizers.NFC()
    t.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(LLAMA3), "isolated"), pre_tokenizers.ByteLevel(False, use_regex=False)])
    t.train_from_iterator(training_text(), trainers.BpeTrainer(
        vocab_size=1000, special_tokens=["<s>", "</s>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    t.add_tokens(added(True))
    t.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A $B", special_tokens=[("<s>", 0), ("</s>", 1)])])
    t.decoder = decoders.ByteLevel()
    return t


def make_roberta():
    t = Tokenizer(models.BPE(unk_token="<unk>"))
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    t.train_from_iterator(training_text(), trainers.BpeTrainer(
        vocab_size=800, special_tokens=["<s>", "<pad>", "</s>", "<unk>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    t.add_tokens(added(True))
    t.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    t.decoder = decoders.ByteLevel()
    return t


def byte_pieces():
    return [f"<0x{b:02X}>" for b in range(256)]


def make_metaspace():
    t = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    t.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=True)
    t.train_from_iterator(training_text(), trainers.BpeTrainer(
        vocab_size=900, limit_alphabet=120, special_tokens=["<unk>", "<s>", "</s>"] + byte_pieces()))
    # The bytes are pieces, not special tokens.
    spec = json.loads(t.to_str())
    spec["added_tokens"] = [a for a in spec["added_tokens"] if not a["content"].startswith("<0x")]
    t = Tokenizer.from_str(json.dumps(spec))
    t.add_tokens(added(True))
    t.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    t.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(),
                                   decoders.Strip(" ", 1, 0)])
    return t


def make_suffix():
    t = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>", fuse_unk=False))
    t.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    t.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    t.train_from_iterator(training_text(), trainers.BpeTrainer(
        vocab_size=700, limit_alphabet=150, end_of_word_suffix="</w>", special_tokens=["<unk>"]))
    t.decoder = decoders.BPEDecoder(suffix="</w>")
    return t


def make_unigram():
    t = Tokenizer(models.Unigram())
    t.normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    t.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never")
    t.train_from_iterator(training_text(), trainers.UnigramTrainer(
        vocab_size=800, special_tokens=["<unk>", "<s>", "</s>"], unk_token="<unk>"))
    t.add_tokens(added(True))
    t.decoder = decoders.Metaspace(prepend_scheme="always")
    return t


TRAINED = {  # name: (maker, whether the library tells invalid bytes)
    "wordpiece": (make_wordpiece, False),
    "wordpiece_whitespace": (make_wordpiece_whitespace, False),
    "bytelevel": (make_bytelevel, True),
    "roberta": (make_roberta, True),
    "metaspace": (make_metaspace, True),
    "suffix": (make_suffix, False),
    "unigram": (make_unigram, False),
}


def gguf_fields(path):
    import gguf
    VERSIONS["gguf"] = "0.19.0"
    fields = gguf.GGUFReader(path).fields
    return {k: v.contents() for k, v in fields.items() if k.startswith("tokenizer.")}


def wheel_from_gguf(path):
    """SmolLM's own pipeline around the merges of the file."""
    f = gguf_fields(path)
    tokens = f["tokenizer.ggml.tokens"]
    merges = [tuple(m.split(" ")) for m in f["tokenizer.ggml.merges"]]
    t = Tokenizer(models.BPE({p: i for i, p in enumerate(tokens)}, merges))
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(True), pre_tokenizers.ByteLevel(False)])
    t.decoder = decoders.ByteLevel()
    t.add_special_tokens([p for p, kind in zip(tokens, f["tokenizer.ggml.token_type"]) if kind == 3])
    return t


def sentencepiece_from_gguf(path):
    """A sentencepiece model with the pieces, scores and types of the file."""
    f = gguf_fields(path)
    m = sp_model.ModelProto()
    m.trainer_spec.model_type = sp_model.TrainerSpec.BPE
    m.trainer_spec.byte_fallback = True
    m.normalizer_spec.name = "identity"
    m.normalizer_spec.add_dummy_prefix = False
    m.normalizer_spec.remove_extra_whitespaces = False
    m.normalizer_spec.escape_whitespaces = True
    kinds = {1: "NORMAL", 2: "UNKNOWN", 3: "CONTROL", 4: "USER_DEFINED", 5: "UNUSED", 6: "BYTE"}
    rows = zip(f["tokenizer.ggml.tokens"], f["tokenizer.ggml.scores"], f["tokenizer.ggml.token_type"])
    for i, (piece, score, kind) in enumerate(rows):
        p = m.pieces.add()
        p.piece = piece.replace(" ", "▁") if kind == 4 else piece
        p.score = score
        name = "UNKNOWN" if i == f["tokenizer.ggml.unknown_token_id"] else kinds[kind]
        p.type = sp_model.ModelProto.SentencePiece.Type.Value(name)
    m.trainer_spec.unk_id = f["tokenizer.ggml.unknown_token_id"]
    return sentencepiece.SentencePieceProcessor(model_proto=m.SerializeToString()), f


def write_sentencepiece_ids(name, path):
    """Special tokens in the text are not parsed here: sentencepiece never does."""
    sp, f = sentencepiece_from_gguf(path)
    bos = [f["tokenizer.ggml.bos_token_id"]] if f["tokenizer.ggml.add_bos_token"] else []
    write_ids(name, "sentencepiece", lambda t, s: (bos if s else []) + sp.encode(t), sp.decode, True)


def main():
    models_folder = pathlib.Path(sys.argv[1])
    write("text_corpus.json", [t.hex() for t in corpus()])
    for name, (make, bytes_ok) in TRAINED.items():
        tokenizer = make()
        (HERE / f"tokenizers_{name}.json").write_text(tokenizer.to_str(pretty=False) + "\n")
        write_wheel_ids(name, tokenizer, bytes_ok)
    minilm = models_folder / "all-MiniLM-L6-v2" / "tokenizer.json"
    if minilm.exists():
        write_wheel_ids("minilm", Tokenizer.from_file(str(minilm)), False)
    smollm = models_folder / "SmolLM2-135M-Instruct.Q4_1.gguf"
    if smollm.exists():
        write_wheel_ids("smollm2", wheel_from_gguf(smollm), True)
    gemma = models_folder / "gemma-3-270m-q4_k_m.gguf"
    if gemma.exists():
        write_sentencepiece_ids("gemma3", gemma)


if __name__ == "__main__":
    main()
