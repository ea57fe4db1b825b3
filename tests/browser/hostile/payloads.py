"""Text that would run, hide, deceive or break a page, if it were taken for more than text."""

import re

PAYLOADS = (
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    "<svg onload=alert(3)>",
    "<svg><script>alert(4)</script></svg>",
    "<img src=x onerror=alert(5)>",
    "\"><img src=x onerror='alert(6)'>",
    "<iframe srcdoc='<script>parent.alert(7)</script>'></iframe>",
    "<body onload=alert(8)>",
    "<a href=javascript:alert(9)>here</a>",
    "<math><mi xlink:href='javascript:alert(10)'>x</mi></math>",
    "<style>*{display:none}</style>",
    "<base href=https://foreign.example/>",
    "<meta http-equiv=refresh content=0;url=https://foreign.example/>",
    "<form action=https://foreign.example/><button>go</button></form>",
    "<object data=data:text/html,<script>alert(15)</script>></object>",
    "<template><script>alert(16)</script></template>",
    "<!--><script>alert(17)</script-->",
    "<![CDATA[<script>alert(18)</script>]]>",
    "<noscript><p title='</noscript><img src=x onerror=alert(19)>'>",
    "javascript:alert(20)",
    "JaVaScRiPt://%0aalert(21)",
    "data:text/html,<script>alert(22)</script>",
    "vbscript:msgbox(23)",
    "//foreign.example/24",
    "/\\foreign.example/25",
    "{{constructor.constructor('alert(26)')()}}",
    "${alert(27)} #{alert(27)} <%= alert(27) %>",
    "__proto__",
    "constructor",
    '{"__proto__":{"hostile":true}}',
    "toString",
    "';alert(32);//",
    "&lt;script&gt;alert(33)&lt;/script&gt; &amp; &#60;",
    "\\u003cscript\\u003ealert(34)\\u003c/script\\u003e",
    "a\u202etxt.exe",
    "a\u200bb\u2060c\ufeffd",
    "\u2066isolate\u2069 \u061cmark",
    '=HYPERLINK("https://foreign.example","38")',
    "@SUM(1+39)*cmd|' /C calc'!A0",
    "-2+3+cmd|'/C calc'!B40",
    "[a](javascript:alert(41)) ![b](https://foreign.example/b.png)",
    "\U000e0041\U000e0042 tags",
)
"""Printable in one line, so that each place of the API may take them."""

CONTROLS = ("\x1b[31mred\x1b[0m", "\x1b]8;;https://foreign.example\x07link", "a\x08b\x7fc\x9bd")
"""With signs of a terminal: only what workers and handlers report holds them."""

LONG = "<b>x</b>" * (1 << 17)
"""A line of 1 MB."""

_HIDDEN = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\U000e0000-\U000e007f]"
)


def shown(text: str) -> str:
    """Return a text as a page has to show it: each sign that cannot be seen by its code."""
    return _HIDDEN.sub(lambda sign: f"\u27e8U+{ord(sign[0]):04X}\u27e9", text)
