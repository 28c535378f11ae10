"""The texts that every tokenizer golden is made from: Unicode corner cases and everyday text, as bytes."""

EVERYDAY = [
    "", " ", "  ", "\n", "\t", "a", "Hello", "Hello, world!", "hello world", " leading", "trailing ",
    "The quick brown fox jumps over the lazy dog.", "don't can't I'll we've you're he'd she's I'm",
    "DON'T CAN'T I'LL WE'VE", "it’s a ‘quoted’ “phrase” — with dashes – and ellipsis…",
    "1 22 333 4444 55555 1234567890 3.14159 1,000,000 10^-3 0x1F", "٣٤٥ ४५६ ½ ² Ⅷ 四 ①",
    "x=1;y=2;if(x<y){return x+y;}", "def f(a, b=None):\n    return a if b is None else b\n",
    "#include <vector>\nint main() { return 0; }", "https://example.org/a/b?c=d&e=%20f#frag", "user@example.org",
    "CamelCaseWord snake_case_word kebab-case-word SCREAMING_CASE", "e.g. i.e. U.S.A. Mr. Smith's",
    "100% $5.00 €20 £3 ¥400 #hashtag @mention *bold* _it_ ~s~ `code` ^ | \\ / < > [ ] { }",
    "!!! ??? ... --- ___ *** +++ === ~~~ ||| &&&", "a.b,c;d:e!f?g", "(parenthesised) [bracketed] {braced}",
    "supercalifragilisticexpialidocious antidisestablishmentarianism", "a" * 99, "b" * 100, "c" * 101, "d" * 300,
    "ab" * 200, "0" * 120, "word " * 60, "!" * 90, "Mixed CASE Text WITH Numbers123 and456more",
    "unaffable unwanted running runner embeddings tokenization",
]
SPACES = [
    "a b", "a  b", "a   b", "a    b", "a" + " " * 20 + "b", " " * 40, "\n\n", "\n\n\n", "\n \n", " \n", "\r\n",
    "a\r\nb\r\n\r\nc", "a\tb\t\tc", "\t\t\tx", "x \t\n y", "  two  spaces  everywhere  ", "line one\nline two\n\nline four",
    "a\u00a0b", "a\u2003b\u2009c\u200ad", "a\u3000b", "a\u2028b\u2029c", "a\u0085b", "a\u000bb\u000cc", "a\u1680b\u205fc",
    "end  \n  start", "tab\tthen  spaces\n", "\u200bzero\u200bwidth\u200c\u200d", "\ufeffbom first", "soft\u00adhyphen",
]
SCRIPTS = [
    "Ça va très bien, à bientôt! Où êtes-vous?", "Größe Straße Äpfel öffnen über", "naïve café résumé coöperate",
    "cafe\u0301 re\u0301sume\u0301 n\u0303 o\u0308 a\u030a", "A\u0300\u0301\u0302\u0303 stacked", "\u0301lone mark",
    "Zażółć gęślą jaźń", "Příliš žluťoučký kůň", "İstanbul Iğdır ılık", "ΑΒΓ αβγ Σίσυφος ΟΔΥΣΣΕΥΣ ὁ ἄνθρωπος",
    "Привет, мир! Ёлка и ёж. Йод", "ДОМ дом", "Українська мова: її, ґанок", "שלום עולם", "שָׁלוֹם",
    "مرحبا بالعالم", "اَلْعَرَبِيَّةُ", "فارسی می‌خواهم", "नमस्ते दुनिया", "क्षत्रिय", "বাংলা ভাষা", "தமிழ் மொழி",
    "ภาษาไทยไม่มีช่องว่าง", "ສະບາຍດີ", "ខ្មែរ", "မြန်မာ", "ქართული", "Հայերեն", "አማርኛ", "中文测试", "你好，世界！",
    "漢字とひらがなとカタカナ", "ｶﾀｶﾅ ﾊﾝｶｸ", "ガギグ ハ\u309aヒ\u309aフ", "한국어 텍스트", "각", "混合mixed文字text",
    "𠀀𠀁𪚥", "㐀㐁", "豈更車", "\U0002f800", "ﬁne ﬂow ﬀ Ǆ ǆ ㎏ ℡ ™ ℌ", "ＦＵＬＬ ｗｉｄｔｈ １２３", "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𝒯𝑒𝓍𝓉",
    "Tiếng Việt có dấu", "ſtraſſe K Å Ω", "᠎mongolian᠎vowel", "ꙮ ꜳ ꟿ",
]
SYMBOLS = [
    "😀", "😀😁😂", "hi 😀 there", "👨‍👩‍👧‍👦", "👩🏽‍💻", "🇩🇪🇫🇷🇯🇵", "❤️", "☺", "1️⃣", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "🫠🫡", "a😀b", "∑∏∫√∞≠≤≥±×÷",
    "→←↑↓⇒⇔", "█▓▒░", "♠♣♥♦", "½⅓¼", "°C ℃ µm", "«guillemets» „low“ ‚single‘", "¿Qué? ¡Hola!", "、。「」『』【】",
    "․‥…‧", "⁰¹²³ ₀₁₂", "\ue000\uf8ff private", "\u0378 unassigned", "\U000e0001 tag", "\ufffd replacement", "\ufffe\uffff",
    "▁under ▁▁score▁", "Ġ byte Ċ stand-ins ĉ", "##suffix ##", "<0x41> <0xFF> <0x0A>", "\U0010ffff",
]
CONTROL = [
    "\x00", "a\x00b", "\x01\x02\x1f", "\x7f", "\x1b[31mred\x1b[0m", "bell\x07 back\x08 del\x7f", "\x80\x9f",
    "a\u202eb\u202cc", "\u2066iso\u2069", "x\u034fy", "\U0001d173music",
]
ADDED = [
    "<s>G", "<s> G", " <s>", "</s>", "<s></s>", "<|im_start|>user\nhi<|im_end|>\n", "<|im_start|>", "a<|im_end|>b",
    "<|im_start|><|im_end|>", "x <mask> y", "x<mask>y", "  <mask>  ", "[CLS] a [SEP]", "[MASK]", "pre[MASK]post",
    "[mask]", "the word alone", "wordy sword word", "word", "word.word", "<|endoftext|>", "<|endoftext|", "<bos>hi<eos>",
    "<start_of_turn>user\nhi<end_of_turn>\n", "<unused12>", "<unused", "<extra>", "a <extra> b", "A<EXTRA>B", "éxtra <left>  x",
    "a  <left>b", "a<right>   b", "a <right> <left> b", "<left><right>", "[multimodal]",
]
INVALID = [
    b"\xff", b"a\xffb", b"\xc3", b"caf\xc3", b"\xe4\xb8", b"\xf0\x9f\x98", b"\xf0\x9f\x98\xff", b"\xed\xa0\x80", b"\xc0\x80",
    b"\xf5\x80\x80\x80", b"ok \x80\x81 ok", b"\xe4\xb8\xad\xe4\xb8", b"\xfe\xff\x00\x00",
]


def corpus():
    """All texts as bytes, in a fixed order."""
    valid = EVERYDAY + SPACES + SCRIPTS + SYMBOLS + CONTROL + ADDED
    return [t.encode("utf-8") for t in valid] + INVALID
