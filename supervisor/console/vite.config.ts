import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";
import { chartLocale } from "./plugins/chartLocale.ts";
import { gzipAssets } from "./plugins/gzip.ts";
import { permissions } from "./plugins/permissions.ts";
import { schemeScript } from "./plugins/scheme.ts";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The overlord that `npm run dev` shows; it takes requests of its own origin alone. */
const overlord = process.env.TIDEGATE_OVERLORD ?? "http://127.0.0.1:8090";
const proxied = {
  target: overlord,
  changeOrigin: true,
  headers: { Origin: overlord },
};

export default defineConfig({
  root: here("."),
  base: "/ui/",
  plugins: [
    react(),
    chartLocale(),
    permissions(here("../../docs/reference/openapi.json")),
    schemeScript(here("./src/scheme.js")),
    gzipAssets(),
  ],
  /** Else `npm run dev` bundles it before a plugin sees it. */
  optimizeDeps: { exclude: ["uplot"] },
  resolve: { alias: { "@": here("./src") } },
  build: {
    outDir: "dist",
    assetsInlineLimit: 0,
    target: "es2023",
    sourcemap: false,
    modulePreload: { polyfill: false },
    reportCompressedSize: true,
  },
  server: { proxy: { "^/(api|druid|status)": proxied } },
  preview: { proxy: { "^/(api|druid|status)": proxied } },
  test: { include: ["src/**/*.test.ts"], environment: "node" },
});
