import { Outlet, useLocation } from "@tanstack/react-router";
import { missing, useMe } from "@/api/me";
import { END_TASK, endTaskOf } from "@/changes/tasks";
import { openAction } from "@/components/action/ActionDialog";
import { neededFor } from "@/components/action/action";
import { Barred } from "@/components/Barred";
import { Page } from "@/components/Page";
import { QueryView } from "@/components/QueryView";
import { visible } from "@/text/visible";
import { isActive, type Task, useTask, useTaskId } from "./data";
import { Head } from "./Head";
import { TaskTabs } from "./TaskTabs";

/** One task: what it reads and how it ended in words, then the tab that the address names. */
export function TaskPage() {
  const id = useTaskId();
  const query = useTask(id);
  const task = query.data?.status;
  const { pathname } = useLocation();
  return (
    <Page
      title={visible(id)}
      fills={pathname.endsWith("/log")}
      actions={task !== undefined && isActive(task) ? <End task={task} /> : undefined}
      sentence={
        <QueryView query={query} lines={2}>
          {({ status }) => <Head task={status} />}
        </QueryView>
      }
    >
      {task !== undefined && (
        <>
          <TaskTabs id={id} />
          <Outlet />
        </>
      )}
    </Page>
  );
}

function End({ task: { id, dataSource, supervisorId } }: { task: Task }) {
  const me = useMe();
  return (
    <Barred
      why={missing(me, neededFor("post", END_TASK), dataSource)}
      onClick={() => openAction(endTaskOf(id, supervisorId))}
    >
      End task…
    </Barred>
  );
}
