import { readFileSync } from "node:fs";
import type { Plugin } from "vite";

/** Puts the script of the colour scheme into the head, as a classic file with a hashed name. */
export function schemeScript(file: string): Plugin {
  let hashed = "";
  let isBuild = false;
  let base = "/";
  return {
    name: "tidegate:scheme",
    configResolved(config) {
      isBuild = config.command === "build";
      base = config.base;
    },
    buildStart() {
      if (isBuild) {
        const source = readFileSync(file, "utf8");
        const reference = this.emitFile({ type: "asset", name: "scheme.js", source });
        hashed = this.getFileName(reference);
      }
    },
    transformIndexHtml: {
      order: "post",
      handler() {
        const src = isBuild ? `${base}${hashed}` : `${base}src/scheme.js`;
        return [{ tag: "script", attrs: { src }, injectTo: "head" }];
      },
    },
  };
}
