import { readFileSync } from "node:fs";
import type { Plugin } from "vite";

const NAME = "tidegate:permissions";
const RESOLVED = `\0${NAME}`;
const VERBS = ["post", "put", "delete"] as const;

type Operation = { "x-tidegate-permission"?: { permission: string } };
type OpenApi = { paths: Record<string, Partial<Record<string, Operation>>> };

/** Gives the app what each change needs, as the overlord's OpenAPI says it: "post /path" -> permission. */
export function permissions(openApiFile: string): Plugin {
  return {
    name: NAME,
    resolveId: (id) => (id === NAME ? RESOLVED : undefined),
    load(id) {
      if (id !== RESOLVED) {
        return undefined;
      }
      this.addWatchFile(openApiFile);
      const { paths } = JSON.parse(readFileSync(openApiFile, "utf8")) as OpenApi;
      const needed: Record<string, string> = {};
      for (const [path, operations] of Object.entries(paths)) {
        for (const verb of VERBS) {
          const permission = operations[verb]?.["x-tidegate-permission"]?.permission;
          if (permission !== undefined && permission !== "work") {
            needed[`${verb} ${path}`] = permission;
          }
        }
      }
      return `export const NEEDED = ${JSON.stringify(needed)};`;
    },
  };
}
