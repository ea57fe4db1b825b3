/** The live ranges by what becomes of them: "4 reading 1 publishing"; no task reads the unread ones. */
export function rangeWords(groups: Readonly<Record<string, number>>, unread: number): string {
  return Object.entries(groups)
    .map(([state, number]) => [state, state === "READING" ? number - unread : number] as const)
    .filter(([, number]) => number > 0)
    .map(([state, number]) => `${number} ${state.toLowerCase()}`)
    .join(" ");
}
