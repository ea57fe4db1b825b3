"""Joda-Time patterns (`yyyy-MM-dd HH:mm`) as SQL: texts parsed into times, times printed as texts.

    text ──one regular expression──► fields, as texts ──► wall clock ──zone──► TIMESTAMP
    TIMESTAMP ──zone──► wall clock ──► fields ──format_string──► text

A text must match the whole pattern.  If it does not, or if there is no such date or time, the
result is null.  As in Joda, a number may have fewer digits than letters, unless another number
follows directly; names and quoted text may be in any case; a weekday moves the date within its
week; an hour of 24 precedes AM and PM.  Names are English on every machine.

Unlike in Joda, years lie in 1 to 9999; two digits of a year mean 1950 to 2049; six digits of a
second are kept; more than nine digits of a year do not match.

Source: Joda-Time's `DateTimeFormat`, `DateTimeFormatterBuilder`, `DateTimeParserBucket`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tasks.rows.sql.text import text
from tasks.rows.time import zones
from tasks.rows.time.zones import SECOND, Zone, let, read_zone

PATTERN_LENGTH_MAX = 200
"""Most characters of a pattern."""

MONTHS: tuple[str, ...] = ("January", "February", "March", "April", "May", "June", "July")
MONTHS += ("August", "September", "October", "November", "December")
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_LITERAL = "'"
_FIELDS = {"G": "era", "C": "century", "Y": "year", "y": "year", "x": "weekyear", "w": "week"}
_FIELDS |= {"e": "weekday", "E": "weekday", "D": "dayofyear", "M": "month", "d": "day"}
_FIELDS |= {"a": "half", "K": "hour", "h": "hour", "H": "hour", "k": "hour", "m": "minute"}
_FIELDS |= {"s": "second", "S": "fraction", "z": "zone", "Z": "zone"}
_DIGITS_MAX = {"D": 3, "e": 1}
_TEXTS = "GEazZ"
_TWO, _NAMED = 2, 3
"""Two letters of a year are its last digits; three of a month mean its name, of a zone its id."""
_RANGES = {"M": (1, 12), "d": (1, 31), "D": (1, 366), "w": (1, 53), "e": (1, 7)}
_RANGES |= {"H": (0, 23), "k": (1, 24), "K": (0, 11), "h": (1, 12), "m": (0, 59), "s": (0, 59)}
_NUMBERS = {"M": "month(m)", "d": "day(m)", "D": "dayofyear(m)", "w": "weekofyear(m)"}
_NUMBERS |= {"C": "year(m) div 100", "e": "weekday(m) + 1", "m": "minute(m)", "s": "second(m)"}
_NUMBERS |= {"H": "hour(m)", "k": "(hour(m) + 23) % 24 + 1"}
_NUMBERS |= {"K": "hour(m) % 12", "h": "(hour(m) + 11) % 12 + 1"}
_APART = {
    "weekyear": {"year", "month", "day", "dayofyear"},
    "dayofyear": {"month", "day"},
    "week": {"year", "month", "day", "dayofyear"},
}


class PatternError(ValueError):
    """A pattern that cannot be used; `at` is the place of the error, counted from 0."""

    def __init__(self, message: str, at: int, fix: str) -> None:
        super().__init__(f"{message} (character {at + 1}); {fix}")
        self.message = message
        self.at = at
        self.fix = fix


@dataclass(frozen=True)
class Piece:
    """A run of one letter (`count` times), or a literal: the letter `'` and its `text`."""

    letter: str
    count: int
    text: str
    at: int

    @property
    def is_number(self) -> bool:
        """Whether only digits stand for the piece."""
        named = self.letter in _TEXTS or (self.letter == "M" and self.count >= _NAMED)
        return self.letter != _LITERAL and not named

    @property
    def field(self) -> str:
        """The field to which the piece belongs; empty for a literal."""
        return _FIELDS.get(self.letter, "")


@dataclass(frozen=True)
class JodaPattern:
    """A parsed pattern; its methods return SQL text."""

    pieces: tuple[Piece, ...]

    def parse_sql(self, raw: str, zone: str = "UTC") -> str:
        """Return the SQL TIMESTAMP of the time in the SQL text `raw`; null if there is none.

        A zone in the text precedes `zone`.  A wall clock time that `zone` skips is null; if a
        wall clock time occurs twice, the earlier moment is taken.  Fields that the pattern lacks
        are those of 1970-01-01, but the year of a date is 2000.

        Raises:
            PatternError: the pattern can only be printed.
            ZoneError: `zone` is not a time zone.
        """
        place = read_zone(zone)
        _check_parses(self.pieces)
        regex, fields, groups = "", dict[str, str](), dict[str, int]()
        for piece, following in zip(self.pieces, (*self.pieces[1:], None), strict=True):
            own = _regex(piece, fixed=following is not None and following.is_number)
            if piece.field:
                first, count = re.compile(regex).groups, re.compile(own).groups
                groups[piece.field] = first
                field = "halfhour" if piece.letter in "hK" else piece.field
                fields[field] = _value(piece, first, pivoted=count > 1)
            regex += own
        exact = _parse(raw, regex, _instant(self.pieces, fields, place))
        if self._is_plain:
            # Many times as fast, and right for nearly all texts; all others take the general way.
            plain = "".join(_regex(piece, fixed=True, plain=True) for piece in self.pieces)
            return f"coalesce({zones.cast_plain(raw, plain, groups, place)}, {exact})"
        return exact

    @property
    def _is_plain(self) -> bool:
        """Whether it has only numbers (with year and day) and an offset; see `cast_plain`."""
        runs = {(piece.letter, piece.count) for piece in self.pieces if piece.field}
        letters = {letter for letter, _ in runs}
        named = any(letter in "MZ" and count >= _NAMED for letter, count in runs)
        return ("y", 4) in runs and {"M", "d"} <= letters <= set("yMdHmsSZ") and not named

    def format_sql(self, time: str, zone: str = "UTC") -> str:
        """Return the SQL STRING of the SQL TIMESTAMP `time`, printed by the pattern in `zone`.

        Raises:
            PatternError: the name of this zone cannot be printed.
            ZoneError: `zone` is not a time zone.
        """
        place = read_zone(zone)
        form, values = "", list[str]()
        for piece in self.pieces:
            if piece.letter == _LITERAL and "%" not in piece.text:
                form += piece.text
                continue
            conversion, value = _printed(piece, place)
            form += conversion
            values.append(value)
        printed = f"format_string({', '.join([text(form), *values])})"
        body = f"CASE WHEN t IS NOT NULL THEN {printed} END"
        moment = let("m", "timestamp_micros(l)", body)
        return let("t", f"unix_micros({time})", let("l", place.local("t"), moment))


def read_pattern(written: str) -> JodaPattern:
    """Parse a pattern.

    Raises:
        PatternError: it is empty or too long, has an unknown letter, or has an unclosed quote.
    """
    if not written:
        raise PatternError("the pattern is empty", 0, "write one such as yyyy-MM-dd HH:mm:ss")
    if len(written) > PATTERN_LENGTH_MAX:
        message = f"the pattern has {len(written)} characters"
        raise PatternError(message, PATTERN_LENGTH_MAX, f"write at most {PATTERN_LENGTH_MAX}")
    return JodaPattern(tuple(_pieces(written)))


def parse_iso_sql(raw: str, zone: str = "UTC") -> str:
    """Return the SQL TIMESTAMP of the time in the SQL text `raw`, in ISO 8601 or SQL's form.

    A date (`2024`, `2024-05`, `2024-05-01`, `2024-122`, `2024-W18-3`), then perhaps `T` or a blank
    and perhaps a time down to fractions of a second, then perhaps an offset.  Else null.

    Raises:
        ZoneError: `zone` is not a time zone.
    """
    number = "([0-9]{1,2}+)"
    date = f"-[Ww]{number}(?:-([0-9]))?|-([0-9]{{3}})|-{number}(?:-{number})?"
    time = f"{number}(?::{number}(?::{number}(?:[.,]([0-9]{{1,9}}+))?)?)?"
    regex = f"([+-]?[0-9]{{1,9}}+)(?:{date})?(?:[Tt ](?:{time})?(?:{zones.OFFSET})?)?"
    year, week_number, weekday = _int(0, 1, 9999), _int(1, 1, 53), _or(2, _int(2, 1, 7), 1)
    clock = {
        "hour": _or(6, _int(6, 0, 23), 0),
        "minute": _or(7, _int(7, 0, 59), 0),
        "second": _or(8, _int(8, 0, 59), 0),
        "fraction": _or(9, _fraction(9), 0),
    }
    by_week = {"weekyear": year, "week": week_number, "weekday": weekday}
    by_day = {"year": year, "dayofyear": _int(3, 1, 366)}
    plain = {"year": year, "month": _or(4, _int(4, 1, 12), 1), "day": _or(5, _int(5, 1, 31), 1)}
    week, day, date = (zones.wall_clock(own | clock) for own in (by_week, by_day, plain))
    local = f"CASE WHEN f[1] <> '' THEN {week} WHEN f[3] <> '' THEN {day} ELSE {date} END"
    shown = read_zone(zone).instant_shown("lo")
    chosen = f"CASE WHEN f[10] <> '' THEN lo - {zones.offset_micros('f[10]')} ELSE {shown} END"
    return _parse(raw, regex, let("lo", local, chosen))


def format_iso_sql(time: str) -> str:
    """Return the SQL STRING of the SQL TIMESTAMP `time` as `2024-05-01T10:00:00.000Z`."""
    return read_pattern("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'").format_sql(time)


def _pieces(written: str) -> Iterator[Piece]:
    at = 0
    while at < len(written):
        start, letter = at, written[at]
        if letter.isascii() and letter.isalpha():
            if letter not in _FIELDS:
                raise PatternError(
                    f"{letter!r} is no letter of a pattern",
                    at,
                    f"write text in quotes ('T'); the letters are {' '.join(_FIELDS)}",
                )
            while at < len(written) and written[at] == letter:
                at += 1
            yield Piece(letter, at - start, "", start)
        else:
            literal, at = _literal(written, at)
            yield Piece(_LITERAL, 1, literal, start)


def _literal(written: str, at: int) -> tuple[str, int]:
    """Parse literal text, up to the next letter outside of quotes."""
    literal, opened = "", -1
    while at < len(written):
        if written.startswith("''", at):
            literal, at = literal + "'", at + 2
            continue
        if written[at] == "'":
            opened = at if opened < 0 else -1
        elif opened < 0 and written[at].isascii() and written[at].isalpha():
            break
        else:
            literal += written[at]
        at += 1
    if opened >= 0:
        raise PatternError("a quote has no end", opened, "close it, or write '' for a quote")
    return literal, at


def _check_parses(pieces: tuple[Piece, ...]) -> None:
    """Raise the error that keeps the pattern from being parsed, if there is one."""
    first: dict[str, Piece] = {}
    for piece in pieces:
        if piece.letter == "C" or (piece.letter == "z" and piece.count > _NAMED):
            name = "a century" if piece.letter == "C" else "a zone's long name"
            raise PatternError(f"{name} can be printed but not parsed", piece.at, "leave it out")
        if piece.field and piece.field in first:
            raise PatternError(
                f"the {piece.field} stands twice in the pattern", piece.at, "leave one out"
            )
        if piece.field:
            first[piece.field] = piece
    if not first:
        raise PatternError("the pattern has no field of a time", 0, "write one such as yyyy-MM-dd")
    for field, others in _APART.items():
        for other in first.keys() & others if field in first else ():
            raise PatternError(
                f"the {field} does not go with the {other}",
                first[field].at,
                "write yyyy-MM-dd, yyyy-DDD or xxxx-'W'ww-e",
            )
    if "week" in first and "weekyear" not in first:
        raise PatternError(
            "the week needs the year that it is counted in", first["week"].at, "add xxxx"
        )
    if "weekday" in first and not first.keys() & {"weekyear", "dayofyear", "day"}:
        raise PatternError("the weekday alone names no day", first["weekday"].at, "add dd or ww")


def _regex(piece: Piece, *, fixed: bool, plain: bool = False) -> str:
    """Return a regular expression (of Java and Python) with a group per field, mostly one.

    `fixed`: a number follows directly.  The match never backtracks, as in Joda.
    `plain`: only full widths, far from the bounds of our years.
    """
    count, letter = piece.count, piece.letter
    if plain and letter in "yZ":
        return "((?!000[01]|9999)[0-9]{4})" if letter == "y" else "([+-]0[0-9]:?[0-5][0-9]|Z)"
    if letter == _LITERAL:
        return f"(?iu:{re.sub('([^A-Za-z0-9])', _escaped, piece.text)})"
    if letter in "GEa" or (letter == "M" and count >= _NAMED):
        names = {"G": ("BCE", "BC", "AD", "CE"), "E": WEEKDAYS, "M": MONTHS, "a": ("AM", "PM")}
        short = [name[:3] for name in names[letter]] if letter in "EM" else []
        return f"((?>(?i:{'|'.join([*names[letter], *short])})))"
    if letter == "z":
        return f"((?>{'|'.join(sorted(zones.ZONES_OF_NAMES, key=len, reverse=True))}))"
    if letter == "Z":
        return zones.OFFSET if count < _NAMED else f"((?>{zones.REGION}|UTC|GMT))"
    if letter in "yYx":
        if count == _TWO and not fixed:
            return "(?:([0-9]{2})(?![0-9])|([+-]?[0-9]{1,9}+))"
        sign = "" if letter == "Y" or count == _TWO else "[+-]?"
        return f"({sign}[0-9]{{{count}}})" if fixed else f"({sign}[0-9]{{1,{max(count, 9)}}}+)"
    least = min(count, 18) if letter == "S" else max(count, _DIGITS_MAX.get(letter, 2))
    exact = fixed and count >= least
    return f"([0-9]{{{least}}})" if exact else f"([0-9]{{1,{least}}}+)"


def _escaped(match: re.Match[str]) -> str:
    return f"\\{match[0]}" if match[0].isascii() else match[0]


def _value(piece: Piece, group: int, *, pivoted: bool) -> str:
    """Return the SQL of a field's number; null beyond its range.  `f` has the groups' texts."""
    letter, group_text = piece.letter, f"f[{group}]"
    if letter in "yYx":
        if piece.count != _TWO:
            return _int(group, 1, 9999)
        year = f"CAST({group_text} AS INT) + CASE WHEN {group_text} < '50' THEN 2000 ELSE 1900 END"
        return f"coalesce({year}, {_int(group + 1, 1, 9999)})" if pivoted else f"({year})"
    if letter == "E" or (letter == "M" and piece.count >= _NAMED):
        short = (name[:3].lower() for name in (WEEKDAYS if letter == "E" else MONTHS))
        names = ", ".join(f"'{name}'" for name in short)
        return f"nullif(array_position(array({names}), lower(substr({group_text}, 1, 3))), 0)"
    if letter == "S":
        return _fraction(group)
    if letter in _RANGES:
        number = _int(group, *_RANGES[letter])
        return f"({number} % {_RANGES[letter][1]})" if letter in "hk" else number
    return group_text


def _int(group: int, low: int, high: int) -> str:
    number = f"CAST(f[{group}] AS INT)"
    return f"CASE WHEN {number} BETWEEN {low} AND {high} THEN {number} END"


def _or(group: int, value: str, default: int) -> str:
    return f"CASE WHEN f[{group}] = '' THEN {default} ELSE {value} END"


def _fraction(group: int) -> str:
    return f"CAST(rpad(nullif(f[{group}], ''), 6, '0') AS INT)"


def _parse(raw: str, regex: str, instant: str) -> str:
    """Bind `f`, the texts of the groups; all are empty if the pattern does not match."""
    groups = ",".join(f"${number + 1}" for number in range(re.compile(regex).groups))
    return zones.bounded(let("f", f"split({zones.rewritten(raw, regex, groups)}, ',')", instant))


def _instant(pieces: tuple[Piece, ...], fields: Mapping[str, str], zone: Zone) -> str:
    """Return the SQL of the instant, by the zone in the text if the pattern has one."""
    local = zones.wall_clock(fields)
    piece = next((piece for piece in pieces if piece.field == "zone"), None)
    if piece is None:
        return zone.instant_shown(local)
    named = fields["zone"]
    if piece.letter == "Z" and piece.count < _NAMED:
        return f"{local} - {zones.offset_micros(named)}"
    if piece.letter == "z":
        pairs = ", ".join(f"'{name}', '{id_}'" for name, id_ in zones.ZONES_OF_NAMES.items())
        named = f"element_at(map({pairs}), {named})"
    return zones.instant_in_named(local, named)


def _printed(piece: Piece, zone: Zone) -> tuple[str, str]:
    """Return a conversion of `format_string` and the SQL of its value.

    The SQL uses `t` (instant) and `l` (wall clock) in microseconds, and `m` (`l` as TIMESTAMP).
    """
    letter, count = piece.letter, piece.count
    number = f"%0{count}d" if count > 1 else "%d"
    match letter:
        case "'":
            return "%s", text(piece.text)
        case "y" | "Y" | "x":
            year = "date_part('YEAROFWEEK', m)" if letter == "x" else "year(m)"
            return number, f"{year} % 100" if count == _TWO else year
        case "M" if count >= _NAMED:
            return "%s", _elt("month(m)", MONTHS, short=count == _NAMED)
        case "E":
            return "%s", _elt("weekday(m) + 1", WEEKDAYS, short=count <= _NAMED)
        case "S":
            micros = f"lpad(CAST(pmod(l, {SECOND}) AS STRING), 6, '0')"
            return "%s", f"rpad({micros}, {count}, '0')"
        case "Z" | "z":
            return "%s", _printed_zone(piece, zone)
        case "G":
            return "%s", "'AD'"
        case "a":
            return "%s", "if(hour(m) < 12, 'AM', 'PM')"
        case _:
            return number, _NUMBERS[letter]


def _elt(index: str, names: tuple[str, ...], *, short: bool) -> str:
    return f"elt({index}, {', '.join(text(name[:3] if short else name) for name in names)})"


def _printed_zone(piece: Piece, zone: Zone) -> str:
    if piece.letter == "Z" and piece.count >= _NAMED:
        return text(zone.id)
    if piece.letter == "Z":
        colon = ":" if piece.count == _TWO else ""
        parts = ("abs(l - t) div 3600000000", "abs(l - t) div 60000000 % 60")
        return f"format_string('%s%02d{colon}%02d', if(l < t, '-', '+'), {', '.join(parts)})"
    if zone.offset is None:
        raise PatternError(
            f"the name of {zone.id} is not known", piece.at, "write ZZ (offset) or ZZZ (id)"
        )
    long_names = {"UTC": "Coordinated Universal Time", "GMT": "Greenwich Mean Time"}
    return text(long_names.get(zone.id, zone.id) if piece.count > _NAMED else zone.id)
