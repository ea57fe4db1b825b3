import { get } from "./client";
import { contact, QUIET_MS, TICK_MS } from "./contact";

/**
 * Looks at the clock for the header, and asks the process for a sign where nothing was heard for
 * a while.  Returns the function that ends it.
 */
export function startPulse(): () => void {
  const stop = new AbortController();
  let asking = false;
  const tick = async () => {
    contact.update();
    if (asking || document.visibilityState === "hidden" || contact.quietFor() < QUIET_MS) {
      return;
    }
    asking = true;
    try {
      await get("/status", {}, AbortSignal.any([stop.signal, AbortSignal.timeout(QUIET_MS)]));
    } catch {
      // The contact has noted it.
    } finally {
      asking = false;
    }
  };
  const timer = setInterval(() => void tick(), TICK_MS);
  const onVisible = () => document.visibilityState === "visible" && contact.setVisible();
  document.addEventListener("visibilitychange", onVisible, { signal: stop.signal });
  return () => {
    clearInterval(timer);
    stop.abort();
  };
}
