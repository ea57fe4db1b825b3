/** Returns an address below /ui, whatever a link has put into the URL. */
export function inConsole(next: string | undefined): string {
  const isOurs = next !== undefined && /^\/(?![/\\])/.test(next);
  return `/ui${isOurs ? next : "/"}`;
}
