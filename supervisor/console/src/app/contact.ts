import { useSyncExternalStore } from "react";
import { type Contact, contact } from "@/api/contact";

/** Returns whether the overlord is heard. */
export function useContact(): Contact {
  return useSyncExternalStore(contact.subscribe, contact.snapshot);
}
