"""What functions of addresses, of combinations and of patterns for texts answer.

Source: as in `scalars.py`; `Formatter` of Java for `format`.
"""

Case = tuple[str, object]

FOLDS: list[Case] = [
    ("cartesian_fold((e, f, acc) -> acc + e * f, nums, [10, 20], 0)", 240),
    (
        "cartesian_fold((e, f, acc) -> concat(acc, e, f, ' '), arr, [1, 2], '')",
        "a1 a2 b1 b2 c1 c2 ",
    ),
    ("cartesian_fold((e, f, g, acc) -> acc + 1, nums, reals, arr, 0)", 24),
    ("cartesian_fold((e, acc) -> acc + e, nums, 0)", 8),
    ("cartesian_fold((e, f, acc) -> acc + e, reals, [1, 1], 0.5)", 8.5),
    ("cartesian_fold((e, f, acc) -> acc + e, reals, [1], 0)", 3),
    (
        "cartesian_fold((e, f, acc) -> array_append(acc, e * f), [1, 2], [3, 4], <LONG>[])",
        ("LONG", [3, 4, 6, 8]),
    ),
    ("cartesian_fold((e, f, acc) -> acc + 1, nums, an, 0)", None),
    ("cartesian_fold((e, f, acc) -> acc + 1, an, nums, 0)", None),
    ("cartesian_fold((e, f, acc) -> acc + 1, <LONG>[], an, 0)", None),
    ("cartesian_fold((e, f, acc) -> acc + 1, nums, [], 5)", 5),  # Druid: an empty array
    ("cartesian_fold((e, f, acc) -> acc + 1, x, nums, 0)", 4),
    (
        "map(v -> cartesian_fold((e, f, acc) -> acc + v, nums, [1, 1], 0), nums)",
        ("LONG", [8, 16, 24, 16]),
    ),
    ("cartesian_fold((e, f, acc) -> acc + fold((g, h) -> h + g, nums, 0), nums, [1], 0)", 32),
]

_SUBNET = "2001:db8:85a0::/43"
ADDRESSES: list[Case] = [
    ("ipv6_match('201:ef:168::', '201:ef:168::/32')", 1),
    ("ipv6_match('2002:ef:168::', '201:ef:168::/32')", 0),
    ("ipv6_match('druid.apache.org', '201:ef:168::/32')", 0),
    ("ipv6_match('75e9:efa4:29c6:85f6::232c', '75e9:efa4:29c6:85f6::/64')", 1),
    ("ipv6_match('75E9:EFA4:29C6:85F6:0:0:0:232C', '75e9:efa4:29c6:85f6::/64')", 1),
    (f"ipv6_match('2001:db8:85a0::1', '{_SUBNET}')", 1),
    (f"ipv6_match('2001:db8:85bf:ffff::', '{_SUBNET}')", 1),
    (f"ipv6_match('2001:db8:85c0::', '{_SUBNET}')", 0),
    (f"ipv6_match('2001:db8:859f::', '{_SUBNET}')", 0),
    ("ipv6_match('::1', '::1/128')", 1),
    ("ipv6_match('::2', '::1/128')", 0),
    ("ipv6_match('0:0:0:0:0:0:0:1', '::1/128')", 1),
    ("ipv6_match('::', '::/0')", 1),
    ("ipv6_match('ffff::', '8000::/1')", 1),
    ("ipv6_match('7fff::', '8000::/1')", 0),
    ("ipv6_match('1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0/128')", 1),
    ("ipv6_match('::2:3:4:5:6:7:8', '0:2:3:4:5:6:7:8/128')", 1),
    ("ipv6_match('1::8', '1:0:0:0:0:0:0:8/128')", 1),
    ("ipv6_match('::ffff:192.168.1.5', '::ffff:c0a8:105/128')", 1),
    ("ipv6_match('0:0:0:0:0:ffff:192.168.1.5', '::ffff:192.168.1.0/120')", 1),
    ("ipv6_match('64:ff9b::192.0.2.33', '64:ff9b::c000:221/128')", 1),
    ("ipv6_match(ip, '::/0')", 0),
    ("ipv6_match('1:2:3:4:5:6:7', '::/0')", 0),
    ("ipv6_match('1:2:3:4:5:6:7:8:9', '::/0')", 0),
    ("ipv6_match('1::2::3', '::/0')", 0),
    ("ipv6_match('1:2:3:4::5:6:7:8', '::/0')", 0),
    ("ipv6_match(':1:2:3:4:5:6:7', '::/0')", 0),
    ("ipv6_match('12345::', '::/0')", 0),
    ("ipv6_match('g::', '::/0')", 0),
    ("ipv6_match('::256.1.1.1', '::/0')", 0),
    ("ipv6_match('::1.2.3', '::/0')", 0),
    ("ipv6_match('::1\\n', '::/0')", 0),
    ("ipv6_match('::1/128', '::/0')", 0),
    ("ipv6_match('fe80::1%eth0', '::/0')", 0),
    ("ipv6_match('', '::/0')", 0),
    ("ipv6_match(n, '::/0')", 0),
    ("ipv6_match(sn, '::/0')", 0),
    ("ipv6_match(x, '::/0')", 0),
    ("ipv6_match(any_word, '::/0')", 0),
    ("ipv6_match(any_long, '::/0')", 0),
]

FORMATS: list[Case] = [
    ("format('%s is %d', s, x)", "foo is 3"),
    ("format('%2$s %1$s %s %<s', s, x)", "3 foo foo foo"),
    (
        "format('%5d|%-5d|%05d|%+d|%,d|%(d', x, x, x, x, 1234567, -x)",
        "    3|3    |00003|+3|1,234,567|(3)",
    ),
    ("format('%x %X %o %#x', 255, -1, 8, 255)", "ff FFFFFFFFFFFFFFFF 10 0xff"),
    ("format('%d', -9223372036854775808)", "-9223372036854775808"),
    ("format('%d', 9007199254740993)", "9007199254740993"),
    ("format('%.2f|%8.3f|%e|%g|%a', y, -y, y, y, y)", "2.50|  -2.500|2.500000e+00|2.50000|0x1.4p1"),
    ("format('%,.1f %(.1f %010.1f', 1234567.89, -y, y)", "1,234,567.9 (2.5) 00000002.5"),
    ("format('%f %f %f %5.0f', nan, inf, -inf, nan)", "NaN Infinity -Infinity   NaN"),
    ("format('%s %s %s %s', y, 1e20, nan, -0.0)", "2.5 1.0E20 NaN -0.0"),
    ("format('%s', 4.9e-324)", "4.9E-324"),
    ("format('%5s|%-5s|%.2s|%S', s, s, s, s)", "  foo|foo  |fo|FOO"),
    ("format('%b %B %b %b', x, s, n, 0)", "true TRUE false true"),
    ("format('%s %d %f %x %5s', n, ln, dn, n, n)", "null null null null  null"),
    ("format('100%% of %s%n', s)", "100% of foo\n"),
    ("format('100%')", "100%"),
    ("format('%% %s')", "%% %s"),  # without values it is no pattern
    ("format(s)", "foo"),
    ("format(n, 1)", None),
    ("format(n)", None),
    ("format('', x)", ""),
    ("format('none', x)", "none"),
    ("format('it\\'s ${env:HOME} \\\\ %s', s)", "it's ${env:HOME} \\ foo"),
    ("format('%d', any_long)", "7"),
    ("format('%03d %s', any_long, s)", "007 foo"),
    ("format('%.1f', any_double)", "1.3"),
    ("format('%s %s %s %s', any_long, any_double, any_text, any_null)", "7 1.25 12 null"),
    ("format('%d', any_null)", "null"),
    ("format('%d', any_double)", "%d; 1.25"),  # as Druid has it
    ("format('%d %s', any_word, n)", "%d %s; foo; null"),
    ("format('%f', any_long)", "%f; 7"),
    ("map(e -> format('%02d', e), nums)", ("STRING", ["01", "02", "03", "02"])),
]

_NEST = '{"l":[1,{"a":null},[2,3],[[4],{}]],"e":{},"z":[]}'
DOCUMENTS: list[Case] = [
    ("json_paths(json_object('x', 100, 'y', 200, 'z', 300))", ("STRING", ["$.x", "$.y", "$.z"])),
    (
        "json_paths(json_object('x', ['a', 'b'], 'y', json_object('a', 'hello', 'b', 'world')))",
        ("STRING", ["$.x", "$.y.a", "$.y.b"]),
    ),
    (
        "json_paths(js)",
        (
            "STRING",
            [
                *("$.a", "$.b", "$.c", "$.d.e", "$.d.f", "$.g", "$.h", "$.i j", "$.k"),
                *("$.m[0].n", "$.m[1].n", "$.o", "$.q"),
            ],
        ),
    ),
    (
        f"json_paths(parse_json('{_NEST}'))",
        ("STRING", ["$.l[0]", "$.l[1].a", "$.l[2]", "$.l[3][0]", "$.z"]),
    ),
    (
        """json_paths(parse_json('{"a.b":1,"c[d]":{"e":2}}'))""",
        ("STRING", ["$.['a.b']", "$.['c[d]'].e"]),
    ),
    ("json_paths(parse_json('[1,2]'))", ("STRING", ["$"])),
    ("""json_paths(parse_json('[{"a":1}]'))""", ("STRING", ["$[0].a"])),
    ("json_paths(x)", ("STRING", ["$"])),
    ("json_paths(s)", ("STRING", ["$"])),
    ("json_paths(parse_json('{}'))", ("STRING", [])),
    ("json_paths(n)", None),
    ("json_paths(parse_json(sn))", None),
    (f"json_paths(parse_json('{'[' * 30}{{}}{']' * 30}'))", ("STRING", [])),
    (f"json_paths(parse_json('{'[' * 40}{{}}{']' * 40}'))", None),  # too many levels
    ("""json_merge('{"a":"x"}', '{"b":"y"}')""", {"json": {"a": "x", "b": "y"}}),
    ("""json_merge('{"a":1,"b":2}', '{"a":3}')""", {"json": {"a": 3, "b": 2}}),
    (
        """json_merge(json_object('a', json_object('b', 1, 'c', 2)), '{"a":{"c":3,"d":[]}}')""",
        {"json": {"a": {"b": 1, "c": 3, "d": []}}},
    ),
    (
        """json_merge('{"a":[1,{}],"b":[1],"c":1}', '{"a":["x"],"b":2,"c":[2]}')""",
        {"json": {"a": [1, {}, "x"], "b": 2, "c": [2]}},
    ),
    ("json_merge('[1]', '[2,null]')", {"json": [1, 2, None]}),
    ("""json_merge('{"a":1}', '{"a":null}')""", {"json": {"a": None}}),
    ("""json_merge('{"a":null}', '{"a":{"b":1}}')""", {"json": {"a": {"b": 1}}}),
    (
        "json_merge(json_object('a', x), json_object('b', y), json_object('a', s), '{}')",
        {"json": {"a": "foo", "b": 2.5}},
    ),
    (
        """json_merge(json_query(js, '$.d'), json_object('f', 'it\\'s "'))""",
        {"json": {"e": 2.5, "f": "it's \""}},
    ),
    ("json_value(json_merge(js, json_object('d', json_object('e', 9))), '$.d.e')", 9),
    ("""json_merge('{"a":9007199254740993}', '{}')""", {"json": {"a": 9007199254740993}}),
    ("""json_merge('{"a\\\\"b":1}', '{"c\\\\"d":2}')""", {"json": {'a"b': 1, 'c"d': 2}}),
    (
        """json_merge('{"a":{"b":{"c":{"d":1}}}}', '{"a":{"b":{"c":{"e":2}}}}')""",
        {"json": {"a": {"b": {"c": {"d": 1, "e": 2}}}}},
    ),
    ("json_merge('{}', '[]')", None),
    ("json_merge('1', '2')", None),
    ("json_merge('{', '{}')", None),
    ("json_merge('{}', 'x')", None),
    ("json_merge('{}', '{} x')", None),
    ("json_merge(n, '{}')", None),
    ("json_merge('{}', n)", None),
    ("json_merge(js, json_object('a', 2), parse_json(sn))", None),
    ("json_merge(any_word, any_text)", None),
    (
        f"""json_value(json_merge('{{"a":{"[" * 60}{"]" * 60}}}', '{{"b":1}}'), '$.b')""",
        1,
    ),
    (f"""json_merge('{'{"a":' * 40}1{"}" * 40}', '{'{"a":' * 40}2{"}" * 40}')""", None),
]

ADDED = [*FOLDS, *ADDRESSES, *FORMATS, *DOCUMENTS]
