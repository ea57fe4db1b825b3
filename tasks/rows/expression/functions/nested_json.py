"""Functions that traverse nested data of any depth, level by level.

SQL has no recursion, so each level is one step of a fold over pieces in their final order.
Source: Druid's `NestedDataExpressions`; for `json_merge` Jackson's `readerForUpdating` as well.
"""

from tasks.rows.expression.functions.given import Function, Given, table
from tasks.rows.expression.functions.json import parsed
from tasks.rows.expression.let import let, let_both
from tasks.rows.expression.tree import ElementType
from tasks.rows.expression.value import Value, as_json, first, of_array, quoted

_LEVELS_MAX = 32
"""Most levels of nested data that are traversed; deeper data makes null."""

_PLAIN = "'[.\\\\[\\\\]\\'\"]'"
"""A regular expression of the characters that a name needs quotes for in a path."""


def _paths(given: Given) -> Value:
    """Return the paths of scalars and of lists of scalars; names are in alphabetical order."""
    piece = "named_struct('p', {p}, 'v', {v}, 'd', {d})"
    name = (
        f"CASE WHEN tg_x.key RLIKE {_PLAIN} THEN concat('.[\\'', tg_x.key, '\\']') "
        "ELSE concat('.', tg_x.key) END"
    )
    below = piece.format(p=f"concat(tg_p.p, {name})", v="tg_x.value", d="false")
    at = piece.format(p="concat(tg_p.p, '[', tg_y, ']')", v="tg_x", d="false")
    nested = f"tg_x -> {_object('tg_x')} IS NOT NULL OR {_list('tg_x')} IS NOT NULL"
    step = let(
        _object("tg_p.v"),
        lambda m: let(
            _list("tg_p.v"),
            lambda n: (
                f"CASE WHEN tg_p.d THEN array(tg_p) WHEN {m} IS NOT NULL "
                f"THEN transform(map_entries({m}), tg_x -> {below}) "
                f"WHEN exists({n}, {nested}) "
                f"THEN transform({n}, (tg_x, tg_y) -> {at}) "
                f"ELSE array({piece.format(p='tg_p.p', v='tg_p.v', d='true')}) END"
            ),
        ),
    )
    begin = piece.format(p="'$'", v=f"try_parse_json({as_json(given.values[0])})", d="false")

    def joined(pieces: str) -> str:
        return (
            f"CASE WHEN {pieces}[0].v IS NOT NULL AND forall({pieces}, tg_p -> tg_p.d) "
            f"OR array_size({pieces}) = 0 THEN transform({pieces}, tg_p -> tg_p.p) END"
        )

    return of_array(ElementType.STRING, let(_levels(begin, step), joined))


def _merge(given: Given) -> Value:
    """Merge objects by names, and concatenate lists; null for other pairs, or with a null.

    Below the top the last value counts, unless both are objects or both are lists.
    """
    merged, *others = [_document(given, place) for place in range(len(given.values))]
    for other in others:
        merged = let_both(f"try_parse_json({merged})", f"try_parse_json({other})", _merged)
    return Value(json=merged)


def _document(given: Given, place: int) -> str:
    """Return STRING: an argument as JSON text, or as a text that should be JSON.

    Raises:
        ExpressionError: the argument is neither.
    """
    value = given.values[place]
    alternatives = [value.json] if value.json else []
    alternatives += [parsed(value.string)] if value.string else []
    if value.texts and not alternatives:
        fix = "make nested data of it: json_object('name', x)"
        raise given.wrong(place, f"{given.name} takes nested data, and texts of JSON", fix)
    return first(alternatives, "STRING")


def _merged(left: str, right: str) -> str:
    piece = "named_struct('t', {t}, 'a', {a}, 'b', {b})"
    none = "CAST(NULL AS VARIANT)"

    def ready(sql: str) -> str:
        return piece.format(t=sql, a=none, b=none)

    def objects(a: str, b: str) -> str:
        name = f"concat(CASE WHEN tg_y > 0 THEN ',' ELSE '' END, {quoted('tg_x')}, ':')"
        held = (
            f"CASE WHEN NOT map_contains_key({a}, tg_x) THEN {ready(f'to_json({b}[tg_x])')} "
            f"WHEN NOT map_contains_key({b}, tg_x) THEN {ready(f'to_json({a}[tg_x])')} "
            f"ELSE {piece.format(t='CAST(NULL AS STRING)', a=f'{a}[tg_x]', b=f'{b}[tg_x]')} END"
        )
        names = f"array_union(map_keys({a}), map_keys({b}))"
        inner = f"flatten(transform({names}, (tg_x, tg_y) -> array({ready(name)}, {held})))"
        opened, closed = ready("'{'"), ready("'}'")
        return f"concat(array({opened}), {inner}, array({closed}))"

    def both(a: str, b: str) -> str:
        lists = (
            f"concat('[', array_join(transform(concat({_list(a)}, {_list(b)}), "
            f"tg_x -> to_json(tg_x)), ','), ']')"
        )
        return let_both(
            _object(a),
            _object(b),
            lambda m, n: (
                f"CASE WHEN {m} IS NOT NULL AND {n} IS NOT NULL THEN {objects(m, n)} "
                f"WHEN {_list(a)} IS NOT NULL AND {_list(b)} IS NOT NULL "
                f"THEN array({ready(lists)}) ELSE array({ready(f'to_json({b})')}) END"
            ),
        )

    step = f"CASE WHEN tg_p.t IS NOT NULL THEN array(tg_p) ELSE {both('tg_p.a', 'tg_p.b')} END"
    begin = piece.format(t="CAST(NULL AS STRING)", a=left, b=right)
    alike = (
        f"({_object(left)} IS NOT NULL AND {_object(right)} IS NOT NULL "
        f"OR {_list(left)} IS NOT NULL AND {_list(right)} IS NOT NULL)"
    )
    whole = let(
        _levels(begin, step),
        lambda pieces: (
            f"CASE WHEN forall({pieces}, tg_p -> tg_p.t IS NOT NULL) "
            f"THEN array_join(transform({pieces}, tg_p -> tg_p.t), '') END"
        ),
    )
    return f"CASE WHEN {alike} THEN {whole} END"


def _levels(begin: str, step: str) -> str:
    """Return ARRAY: from the piece `begin`, the results of each piece `tg_p` at each level."""
    return (
        f"aggregate(sequence(1, {_LEVELS_MAX}), array({begin}), "
        f"(tg_s, tg_n) -> flatten(transform(tg_s, tg_p -> {step})))"
    )


def _object(variant: str) -> str:
    return f"try_variant_get({variant}, '$', 'map<string,variant>')"


def _list(variant: str) -> str:
    return f"try_variant_get({variant}, '$', 'array<variant>')"


FUNCTIONS = table(
    Function("json_paths(data)", 1, 1, _paths),
    Function("json_merge(data, data, ...)", 2, None, _merge),
)
