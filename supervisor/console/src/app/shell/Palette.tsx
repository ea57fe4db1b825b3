import { useMantineColorScheme } from "@mantine/core";
import {
  createSpotlight,
  Spotlight,
  type SpotlightActionData,
  type SpotlightActionGroupData,
} from "@mantine/spotlight";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { apiQuery } from "@/api/query";
import { Icon } from "@/components/Icon";
import { visible } from "@/text/visible";
import { setPreferences, usePreferences } from "../preferences";
import { useTables, useTasks, useTerminated } from "./paletteThings";
import { useVerbs } from "./paletteVerbs";
import { MORE_PLACES, PLACES } from "./places";
import { copyLink, showKeys } from "./shellKeys";

const SUPERVISORS = 8;
const FIELD = "palette-search";
const [STORE, palette] = createSpotlight();

/** Opens the palette, as Ctrl+K does. */
export const openPalette = palette.open;

/** Ctrl+K: pages, supervisors of any page of the list, what can be done with them, and settings. */
export function Palette() {
  const [text, setText] = useState("");
  const [isOpen, setIsOpen] = useState(false);
  const supervisors = useSupervisors(text.trim());
  const pages = usePages();
  const groups: SpotlightActionGroupData[] = [
    { group: "Actions", actions: useVerbs(text.trim(), isOpen) },
    { group: "Pages", actions: pages },
    { group: "Supervisors", actions: supervisors },
    { group: "Tables", actions: useTables(text.trim(), isOpen) },
    { group: "Tasks", actions: useTasks(text.trim(), isOpen) },
    { group: "Terminated supervisors", actions: useTerminated(text.trim(), isOpen) },
    { group: "This page", actions: useCommands() },
  ];
  useSelected(text, groups);
  useFocusByTyping();
  return (
    <Spotlight
      store={STORE}
      actions={groups.filter(({ actions }) => actions.length > 0)}
      query={text}
      onQueryChange={setText}
      onSpotlightOpen={() => setIsOpen(true)}
      onSpotlightClose={() => setIsOpen(false)}
      shortcut={["mod + K"]}
      nothingFound="Nothing has these letters"
      attributes={{ content: { "aria-label": "Search" } }}
      lockScroll={false}
      transitionProps={{ duration: 0 }} // its field is there before the next key
      overlayProps={{ blur: 0, backgroundOpacity: 0.45 }}
      limit={20}
      scrollable
      // Its entries are reached from the field by the arrows: Tab leads to the list as a whole.
      scrollAreaProps={{ viewportProps: { tabIndex: 0, role: "group", "aria-label": "Results" } }}
      maxHeight={420}
      searchProps={{
        leftSection: <Icon name="search" />,
        placeholder: "A supervisor, a table, a topic, a page, suspend orders…",
        "aria-label": "Search",
        id: FIELD,
      }}
    />
  );
}

/**
 * Gives the field the focus before a key that is pressed right after the palette was opened: the
 * dialog itself does it a moment later, and what was typed meanwhile would be lost, or would be
 * taken for a key of the page.
 */
function useFocusByTyping(): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const field = document.getElementById(FIELD);
      const isInside =
        event.target instanceof Node && field?.closest("[role=dialog]")?.contains(event.target);
      if (field === null || isInside || !STORE.getState().opened || event.key === "Escape") {
        return;
      }
      field.focus();
      event.stopPropagation();
    };
    window.addEventListener("keydown", onKey, { capture: true });
    return () => window.removeEventListener("keydown", onKey, { capture: true });
  }, []);
}

/**
 * Keeps the first entry selected for Enter until an arrow chooses another one: those of the overlord
 * come after the letters, each kind when it is there, and the first kind may be the last to come.
 */
function useSelected(text: string, groups: readonly SpotlightActionGroupData[]): void {
  const ids = groups.flatMap(({ actions }) => actions.map(({ id }) => id)).join("\n");
  const isChosen = useRef(false);
  useEffect(() => {
    const onKey = ({ key }: KeyboardEvent) => {
      isChosen.current ||= key === "ArrowDown" || key === "ArrowUp";
    };
    window.addEventListener("keydown", onKey, { capture: true });
    return () => window.removeEventListener("keydown", onKey, { capture: true });
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: other letters, another choice
  useEffect(() => {
    isChosen.current = false;
  }, [text]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each other list may have lost it
  useEffect(() => {
    const list = document.getElementById(STORE.getState().listId);
    const selected = list?.querySelector("[data-selected]") ?? null;
    if (text === "" || list === null || (isChosen.current && selected !== null)) {
      return;
    }
    selected?.removeAttribute("data-selected");
    list.querySelector("[data-action]")?.setAttribute("data-selected", "true");
    STORE.updateState((state) => ({ ...state, selected: 0 }));
  }, [text, ids]);
}

function useSupervisors(q: string): SpotlightActionData[] {
  const navigate = useNavigate();
  const { data } = useQuery({
    ...apiQuery("/api/v1/supervisors", { query: { q, limit: SUPERVISORS } }),
    enabled: q !== "",
    placeholderData: keepPreviousData,
  });
  const rows = q === "" ? [] : (data?.supervisors ?? []);
  return rows.map(({ id, detailedState, dataSource, stream }) => ({
    id: `supervisor ${id}`,
    label: visible(id),
    description: `${detailedState} · topic ${visible(stream ?? "–")} · table ${visible(dataSource ?? "–")}`,
    keywords: q, // the server has judged it
    onClick: () => void navigate({ to: "/supervisors/$id/overview", params: { id } }),
  }));
}

function usePages(): SpotlightActionData[] {
  const navigate = useNavigate();
  return [...PLACES, ...MORE_PLACES].map(({ to, label }) => ({
    id: to,
    label,
    onClick: () => void navigate({ to }),
  }));
}

function useCommands(): SpotlightActionData[] {
  const { zone } = usePreferences();
  const { setColorScheme } = useMantineColorScheme();
  const other = zone === "utc" ? "local" : "utc";
  return [
    { id: "link", label: "Copy a link to this view", onClick: () => void copyLink() },
    {
      id: "zone",
      label: other === "utc" ? "Show times in UTC" : "Show local times",
      onClick: () => setPreferences({ zone: other }),
    },
    { id: "light", label: "Light colours", onClick: () => setColorScheme("light") },
    { id: "dark", label: "Dark colours", onClick: () => setColorScheme("dark") },
    { id: "keys", label: "Show the keys", onClick: showKeys },
  ];
}
