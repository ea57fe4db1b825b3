"""What LIKE means: plain Python, by the set of places that the pattern so far may end at."""


def is_like(text: str, pattern: str, escape: str | None) -> bool:
    """Tell whether the whole text is like a pattern; `%` is any text, `_` any character."""
    places, literal = {0}, False
    for sign in pattern:
        if sign == escape and not literal:
            literal = True
            continue
        if sign == "%" and not literal:
            places = set(range(min(places), len(text) + 1)) if places else places
        else:
            any_one = sign == "_" and not literal
            inside = {place for place in places if place < len(text)}
            places = {place + 1 for place in inside if any_one or text[place] == sign}
        literal = False
    return len(text) in places
