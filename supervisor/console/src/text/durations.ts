const UNITS: readonly [string, string, number][] = [
  ["W", "week", 604_800_000],
  ["D", "day", 86_400_000],
  ["H", "hour", 3_600_000],
  ["M", "minute", 60_000],
  ["S", "second", 1_000],
];
const WRITTEN = /^P(?=.)(?:(\d+)W)?(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/;

/** Returns the ms of a duration in ISO 8601, such as P30D or PT12H; null: it is none, or not sure. */
export function durationMs(text: string): number | null {
  const parts = WRITTEN.exec(text.trim().toUpperCase());
  return (
    parts && UNITS.reduce((sum, [, , size], index) => sum + Number(parts[index + 1] ?? 0) * size, 0)
  );
}

/** Writes a duration in ISO 8601 in words: 30 days, 1 day 12 hours; what is none stays as it is. */
export function durationWords(text: string): string {
  const whole = durationMs(text);
  return whole === null ? text : millisWords(whole);
}

/** Writes a length of time in words, down to seconds. */
export function millisWords(whole: number): string {
  const words: string[] = [];
  let rest = whole;
  for (const [, name, size] of UNITS.slice(1)) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) {
      words.push(`${count} ${name}${count === 1 ? "" : "s"}`);
    }
  }
  return words.length === 0 ? "0 seconds" : words.join(" ");
}
