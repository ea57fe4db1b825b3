import { useDebouncedValue } from "@mantine/hooks";
import type { SpotlightActionData } from "@mantine/spotlight";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { apiQuery } from "@/api/query";
import { visible } from "@/text/visible";

const SHOWN = 5;
const TYPING_MS = 200;
const FRESH_MS = 30_000;

/** The tables whose names have what is typed; their names are asked for once while it is open. */
export function useTables(q: string, isOpen: boolean): SpotlightActionData[] {
  const navigate = useNavigate();
  const { data } = useQuery({
    ...apiQuery("/api/v1/datasources"),
    enabled: isOpen && q !== "",
    staleTime: FRESH_MS,
  });
  return namesIn(data?.dataSources, q).map((name) => ({
    id: `table ${name}`,
    label: visible(name),
    description: "table",
    keywords: q,
    onClick: () => void navigate({ to: "/tables/$ds/summary", params: { ds: name } }),
  }));
}

/** The newest ends of supervisors with what is typed in their names, as the overlord finds them. */
export function useTerminated(q: string, isOpen: boolean): SpotlightActionData[] {
  const navigate = useNavigate();
  const [typed] = useDebouncedValue(q, TYPING_MS);
  const { data } = useQuery({
    ...apiQuery("/api/v1/supervisors/terminated", { query: { q: typed, limit: SHOWN } }),
    enabled: isOpen && typed !== "",
    staleTime: FRESH_MS,
    placeholderData: keepPreviousData,
  });
  const rows = q === "" ? [] : (data?.supervisors ?? []);
  return rows
    .filter(({ id, dataSource }) =>
      [id, dataSource].some((name) => name?.toLowerCase().includes(q.toLowerCase())),
    )
    .map(({ id, dataSource, terminatedBy }) => ({
      id: `terminated ${id}`,
      label: visible(id),
      description: `terminated by ${visible(terminatedBy)} · table ${visible(dataSource ?? "–")}`,
      keywords: q,
      onClick: () => void navigate({ to: "/supervisors/$id/overview", params: { id } }),
    }));
}

/** The newest tasks with what is typed in their ids, as the overlord finds them. */
export function useTasks(q: string, isOpen: boolean): SpotlightActionData[] {
  const navigate = useNavigate();
  const [typed] = useDebouncedValue(q, TYPING_MS);
  const { data } = useQuery({
    ...apiQuery("/api/v1/tasks", { query: { q: typed, limit: SHOWN } }),
    enabled: isOpen && typed !== "",
    placeholderData: keepPreviousData,
  });
  const tasks = q === "" ? [] : (data?.tasks ?? []);
  return tasks
    .filter(({ id }) => id.toLowerCase().includes(q.toLowerCase()))
    .map(({ id, status, supervisorId }) => ({
      id: `task ${id}`,
      label: visible(id),
      description: `task · ${status} · supervisor ${visible(supervisorId ?? "–")}`,
      keywords: q,
      onClick: () => void navigate({ to: "/tasks/$task/summary", params: { task: id } }),
    }));
}

/** The first names of an answer that have some letters, those that begin with them before others. */
export function namesIn(answer: unknown, q: string): string[] {
  const letters = q.toLowerCase();
  const names = Array.isArray(answer) ? answer.filter((each) => typeof each === "string") : [];
  const at = (name: string) => name.toLowerCase().indexOf(letters);
  return letters === ""
    ? []
    : names
        .filter((name) => at(name) >= 0)
        .sort((one, other) => at(one) - at(other))
        .slice(0, SHOWN);
}
