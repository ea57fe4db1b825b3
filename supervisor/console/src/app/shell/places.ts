import type { IconName } from "@/components/Icon";

/** A page of the menu and of the palette, and the key that opens it after `g`. */
type Place = {
  to:
    | "/"
    | "/supervisors"
    | "/tasks"
    | "/tables"
    | "/flows"
    | "/executions"
    | "/workers"
    | "/queues"
    | "/work"
    | "/logs"
    | "/audit"
    | "/settings";
  label: string;
  icon: IconName;
  key: string;
};

/** The pages in the order of the menu; the last one is at its foot. */
export const PLACES: readonly Place[] = [
  { to: "/", label: "Home", icon: "home", key: "h" },
  { to: "/supervisors", label: "Supervisors", icon: "list", key: "s" },
  { to: "/tasks", label: "Tasks", icon: "tasks", key: "t" },
  { to: "/tables", label: "Tables", icon: "table", key: "b" },
  { to: "/flows", label: "Flows", icon: "flow", key: "f" },
  { to: "/executions", label: "Executions", icon: "execution", key: "e" },
  { to: "/workers", label: "Workers", icon: "machine", key: "w" },
  { to: "/queues", label: "Queues", icon: "queue", key: "q" },
  { to: "/work", label: "Work", icon: "work", key: "o" },
  { to: "/logs", label: "Logs", icon: "terminal", key: "l" },
  { to: "/audit", label: "Audit", icon: "book", key: "a" },
  { to: "/settings", label: "Settings", icon: "gear", key: "," },
];

/** Pages without an entry of the menu; other pages lead to them, and so does the palette. */
export const MORE_PLACES = [
  { to: "/executors", label: "Executors" },
  { to: "/executors/dead-inputs", label: "Dead inputs" },
] as const;
