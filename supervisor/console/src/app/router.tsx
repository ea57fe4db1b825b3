import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
} from "@tanstack/react-router";
import { supervisorsSearch } from "@/pages/supervisors/search";
import { NoSuchPage } from "./NoSuchPage";
import { parseSearch, type RawSearch, textIn, writeSearch } from "./search";
import { Shell } from "./shell/Shell";

const root = createRootRoute({ component: Outlet, notFoundComponent: NoSuchPage });

const login = createRoute({
  getParentRoute: () => root,
  path: "/login",
  validateSearch: (search: RawSearch) => ({ next: textIn(search, "next") }),
  component: lazyRouteComponent(() => import("@/pages/login/LoginPage"), "LoginPage"),
});

/** All pages inside the frame; each of them knows who calls. */
const shell = createRoute({ getParentRoute: () => root, id: "shell", component: Shell });

const home = createRoute({
  getParentRoute: () => shell,
  path: "/",
  component: lazyRouteComponent(() => import("@/pages/home/HomePage"), "HomePage"),
});

const supervisors = createRoute({
  getParentRoute: () => shell,
  path: "/supervisors",
  validateSearch: supervisorsSearch,
  component: lazyRouteComponent(
    () => import("@/pages/supervisors/SupervisorsPage"),
    "SupervisorsPage",
  ),
});

const settings = createRoute({
  getParentRoute: () => shell,
  path: "/settings",
  component: lazyRouteComponent(() => import("@/pages/settings/SettingsPage"), "SettingsPage"),
});

export const router = createRouter({
  routeTree: root.addChildren([login, shell.addChildren([home, supervisors, settings])]),
  basepath: "/ui",
  parseSearch,
  stringifySearch: writeSearch,
  defaultPreload: "intent",
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
