import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Plugin } from "vite";

const COMPRESSED = /\.(js|css|svg)$/;
const LEAST_BYTES = 1_024;

/** Writes a `.gz` beside each asset, which the overlord serves as it is.  Same input, same bytes. */
export function gzipAssets(): Plugin {
  let folder = "";
  return {
    name: "tidegate:gzip",
    apply: "build",
    configResolved(config) {
      folder = join(config.root, config.build.outDir, config.build.assetsDir);
    },
    closeBundle() {
      for (const name of readdirSync(folder).filter((each) => COMPRESSED.test(each))) {
        const bytes = readFileSync(join(folder, name));
        if (bytes.length >= LEAST_BYTES) {
          writeFileSync(join(folder, `${name}.gz`), gzipSync(bytes, { level: 9 }));
        }
      }
    },
  };
}
