"""Texts that do harm where text is taken for markup, a template, a formula or a line of a file."""

from __future__ import annotations

MARKUP = (
    "</script><script>window.pwned = 1</script>",
    '<img src=x onerror="window.pwned = 1">',
    '"><svg onload=window.pwned=1>',
    "' onmouseover='window.pwned=1",
    "<it> **NEUTRAL** [<b onclick=window.pwned=1>ciao</b>]",
    "<!-- --!> <![CDATA[ ]]> <?php ?>",
    "</title></style></textarea></dialog>",
    "&lt;b&gt; &amp; &#60;",
    "{{ 7 * 7 }} {% raw %} ${7 * 7}",
    "javascript:window.pwned=1",
)

HIDDEN = {
    "a\u2028b\u2029c": ("U+2028", "U+2029"),
    "half \ud83d here": ("U+D83D",),
    "nul \x00 bell \x07 escape \x1b[31m": ("U+0000", "U+0007", "U+001B"),
    "\u202egnp.exe\u202c": ("U+202E", "U+202C"),
    "zero\u200bwidth \ufeff": ("U+200B", "U+FEFF"),
    "end \ufffe \uffff": ("U+FFFE", "U+FFFF"),
    "next\x85line": ("U+0085",),
    "tag \U000e0041": ("U+E0041",),
}
"""Text → the code points that have to be seen."""

HARMLESS = ("שלום עולם abc", "مرحبا بالعالم", "𠮷野家 😀 👩‍👩‍👧 🏳️‍🌈", "naïve Größe ΓΆΤΑ", "क्‍ष", "x" * 5000, "")
"""Text that has to be shown as it is."""

EVERY = (*MARKUP, *HIDDEN, *HARMLESS)
