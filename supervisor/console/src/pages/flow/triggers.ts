import { useQuery } from "@tanstack/react-query";
import type { Got } from "@/api/client";
import { apiQuery, POLL_MS } from "@/api/query";
import type { IconName } from "@/components/Icon";
import type { Tone } from "@/components/Mark";
import { counted } from "@/text/numbers";

const PATH = "/api/v1/flows/{flow}/triggers";

export type Trigger = Got<typeof PATH>["triggers"][number];

/** The triggers of a flow, by name. */
export function useTriggers(flow: string) {
  return useQuery({ ...apiQuery(PATH, { path: { flow } }), refetchInterval: POLL_MS });
}

/** When a trigger fires, in words of its document. */
export function ruleOf({ type, definition }: Pick<Trigger, "type" | "definition">): string {
  const text = (name: string) => {
    const value = Object.hasOwn(definition, name) ? definition[name] : undefined;
    return typeof value === "string" ? value : "";
  };
  if (type === "schedule") {
    return `${text("cron")} ${text("timezone")}`;
  }
  if (type === "published") {
    return `at publishes of ${text("table") || text("supervisor")}, ${text("mode")}`;
  }
  return `by a request, ${text("auth")}`;
}

type Shown = { tone: Tone; icon: IconName; word: string };

/** How a trigger is now: it fires, is paused, waits for an execution, or did not fire the last time. */
export function shownOf({ paused, waiting, problem }: Trigger): Shown {
  if (paused) {
    return { tone: "note", icon: "paused", word: "paused" };
  }
  if (problem !== "") {
    return { tone: "risk", icon: "risk", word: "did not fire" };
  }
  return waiting > 0
    ? { tone: "note", icon: "waiting", word: `${counted(waiting, "publish", "publishes")} wait` }
    : { tone: "good", icon: "good", word: "on" };
}

/** Why nobody can say when a trigger fires next. */
export function whyNoNext({ type, paused }: Pick<Trigger, "type" | "paused">): string {
  if (paused) {
    return "It is paused.";
  }
  return type === "published"
    ? "It fires when something is published."
    : type === "webhook"
      ? "It fires when a request comes."
      : "Its next slot is not known yet.";
}
