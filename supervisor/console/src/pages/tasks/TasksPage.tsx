import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";
import { Page } from "@/components/Page";
import { ColumnMenu } from "@/components/table/ColumnMenu";
import { columnsOf, NAME } from "./columns";
import { numberOf, useTasks } from "./rows";
import type { TasksSearch } from "./search";
import { TaskList } from "./TaskList";

/** The tasks of all supervisors: those that run, and one click away those that failed. */
export function TasksPage() {
  const search = useSearch({ from: "/shell/tasks" });
  const navigate = useNavigate({ from: "/tasks" });
  const tasks = useTasks(search);
  const change = useCallback(
    (part: TasksSearch, replace = false) =>
      void navigate({ search: (before) => ({ ...before, ...part }), replace }),
    [navigate],
  );
  return (
    <Page
      title="Tasks"
      sentence={sentenceOf(tasks)}
      actions={<ColumnMenu name={NAME} columns={columnsOf(false)} />}
      fills
    >
      <TaskList tasks={tasks} search={search} onChange={change} />
    </Page>
  );
}

/** Says how many run, wait for their worker, and failed by themselves. */
export function sentenceOf({
  active,
  failures,
}: Pick<ReturnType<typeof useTasks>, "active" | "failures">): string | undefined {
  if (active === undefined) {
    return undefined;
  }
  const words = [
    `${numberOf(active, "running")} running`,
    `${numberOf(active, "pending")} pending`,
    ...(failures === undefined
      ? []
      : [`${numberOf(failures, undefined)} on record that failed by themselves`]),
  ];
  return words.join(" · ");
}
