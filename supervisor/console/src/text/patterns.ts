/** Whether a pattern, in which `*` stands for any signs, matches a whole name. */
export function matches(pattern: string, name: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  const last = rest.pop();
  if (last === undefined) {
    return pattern === name;
  }
  if (name.length < first.length + last.length) {
    return false;
  }
  if (!name.startsWith(first) || !name.endsWith(last)) {
    return false;
  }
  let at = first.length;
  const end = name.length - last.length;
  for (const piece of rest) {
    const index = name.indexOf(piece, at);
    if (index < 0 || index + piece.length > end) {
      return false;
    }
    at = index + piece.length;
  }
  return true;
}
