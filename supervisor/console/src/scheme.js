// Sets the colour scheme before the first paint. A file of its own: the policy of the page allows
// no inline script, and the app itself starts too late, after a flash of the other scheme.
(() => {
  let wanted = "auto";
  try {
    wanted = localStorage.getItem("tidegate:scheme") ?? "auto";
  } catch {
    // Storage is switched off: the system's scheme is used.
  }
  const dark =
    wanted === "dark" || (wanted !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.setAttribute("data-mantine-color-scheme", dark ? "dark" : "light");
})();
