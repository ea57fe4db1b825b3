import type { Remedy } from "@/api/overview";
import type { DialogSearch } from "@/pages/supervisor/search";

/**
 * Returns the address of a remedy's dialog on the page of its supervisor, with its values filled in;
 * null: it has none.
 */
export function dialogOf({ action, params }: Remedy): DialogSearch | null {
  if (action === "reset") {
    return { do: "reset" };
  }
  if (action === "terminate" || action === "suspend") {
    return { do: action };
  }
  const { offsets } = params;
  if (action === "reset-offsets" && typeof offsets === "object") {
    const named = Object.entries(offsets).map(([name, offset]) => `${name}=${offset}`);
    return { do: "reset", to: "offsets", offset: named };
  }
  return null;
}
