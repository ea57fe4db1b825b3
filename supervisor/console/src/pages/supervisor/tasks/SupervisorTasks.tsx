import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";
import { useTasks } from "@/pages/tasks/rows";
import type { TasksSearch } from "@/pages/tasks/search";
import { TaskList } from "@/pages/tasks/TaskList";
import { useSupervisorId } from "../data";

/** The tasks of one supervisor, those of the past too. */
export function SupervisorTasks() {
  const id = useSupervisorId();
  const search = useSearch({ from: "/shell/supervisors/$id/tasks" });
  const navigate = useNavigate({ from: "/supervisors/$id/tasks" });
  const tasks = useTasks({ ...search, supervisor: id });
  const change = useCallback(
    (part: TasksSearch, replace = false) =>
      void navigate({ search: (before) => ({ ...before, ...part }), replace }),
    [navigate],
  );
  return <TaskList tasks={tasks} search={search} onChange={change} isFixed />;
}
