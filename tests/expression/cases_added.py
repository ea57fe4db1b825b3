"""What functions of addresses, of combinations and of patterns for texts answer.

Source: as in `cases_scalars.py`; `Formatter` of Java for `format`.
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

ADDED = [*FOLDS, *ADDRESSES]
