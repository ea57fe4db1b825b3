import { localStorageColorSchemeManager } from "@mantine/core";

/** Where the colour scheme is kept; scheme.js reads it before the first paint. */
export const scheme = localStorageColorSchemeManager({ key: "tidegate:scheme" });
