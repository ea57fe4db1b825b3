import type { Plugin } from "vite";

const OF_THE_BROWSER = "new Intl.NumberFormat(domEnv ? nav.language : 'en-US')";
const OURS = "new Intl.NumberFormat('en-GB')";

/**
 * Lets uPlot write numbers as the rest of the console does.
 *
 * By itself it takes the browser's language as it is loaded. Some browsers name one that
 * JavaScript refuses ("en-US@posix", where the machine has no locale), and then it does not load.
 */
export function chartLocale(): Plugin {
  return {
    name: "tidegate:chart-locale",
    transform(code, id) {
      if (!id.includes("/uplot/") || !/\.m?js(\?|$)/.test(id)) {
        return null;
      }
      if (!code.includes(OF_THE_BROWSER)) {
        this.error("uPlot takes its language from elsewhere now: mend plugins/chartLocale.ts");
      }
      return { code: code.replace(OF_THE_BROWSER, OURS), map: null };
    },
  };
}
