import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from "@tanstack/react-router";
import { auditSearch } from "@/pages/audit/search";
import { deadInputsSearch } from "@/pages/deadInputs/search";
import { executionSearch } from "@/pages/execution/search";
import { executionsSearch } from "@/pages/executions/search";
import { flowSearch } from "@/pages/flow/search";
import { flowsSearch } from "@/pages/flows/search";
import { lettersSearch } from "@/pages/letters/search";
import { linesSearch, reportsSearch } from "@/pages/logs/search";
import { queueSearch, queuesSearch } from "@/pages/queues/search";
import { badRecordsSearch } from "@/pages/supervisor/badRecords/search";
import { eventsSearch } from "@/pages/supervisor/events/search";
import {
  dialogSearch,
  historySearch,
  overviewSearch,
  partitionsSearch,
  specSearch,
} from "@/pages/supervisor/search";
import { timelineSearch } from "@/pages/supervisor/timeline/search";
import { whySearch } from "@/pages/supervisor/why/search";
import { supervisorsSearch } from "@/pages/supervisors/search";
import { codeSearch, coverageSearch, filesSearch, timeSearch } from "@/pages/table/search";
import { tablesSearch } from "@/pages/tables/search";
import { logSearch } from "@/pages/task/search";
import { tasksSearch } from "@/pages/tasks/search";
import { workSearch } from "@/pages/work/search";
import { workersSearch } from "@/pages/workers/search";
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

const supervisor = createRoute({
  getParentRoute: () => shell,
  path: "/supervisors/$id",
  validateSearch: dialogSearch,
  component: lazyRouteComponent(
    () => import("@/pages/supervisor/SupervisorPage"),
    "SupervisorPage",
  ),
});

const supervisorIndex = createRoute({
  getParentRoute: () => supervisor,
  path: "/",
  beforeLoad: ({ params, search }) => {
    throw redirect({ to: "/supervisors/$id/overview", params, search, replace: true });
  },
});

const supervisorOverview = createRoute({
  getParentRoute: () => supervisor,
  path: "/overview",
  validateSearch: overviewSearch,
  component: lazyRouteComponent(() => import("@/pages/supervisor/overview/Overview"), "Overview"),
});

const partitions = createRoute({
  getParentRoute: () => supervisor,
  path: "/partitions",
  validateSearch: partitionsSearch,
  component: lazyRouteComponent(
    () => import("@/pages/supervisor/partitions/Partitions"),
    "Partitions",
  ),
});

const timeline = createRoute({
  getParentRoute: () => supervisor,
  path: "/timeline",
  validateSearch: timelineSearch,
  component: lazyRouteComponent(() => import("@/pages/supervisor/timeline/Timeline"), "Timeline"),
});

const why = createRoute({
  getParentRoute: () => supervisor,
  path: "/why",
  validateSearch: whySearch,
  component: lazyRouteComponent(() => import("@/pages/supervisor/why/Why"), "Why"),
});

const badRecords = createRoute({
  getParentRoute: () => supervisor,
  path: "/bad-records",
  validateSearch: badRecordsSearch,
  component: lazyRouteComponent(
    () => import("@/pages/supervisor/badRecords/BadRecords"),
    "BadRecords",
  ),
});

const events = createRoute({
  getParentRoute: () => supervisor,
  path: "/events",
  validateSearch: eventsSearch,
  component: lazyRouteComponent(() => import("@/pages/supervisor/events/Events"), "Events"),
});

const workers = createRoute({
  getParentRoute: () => shell,
  path: "/workers",
  validateSearch: workersSearch,
  component: lazyRouteComponent(() => import("@/pages/workers/WorkersPage"), "WorkersPage"),
});

const worker = createRoute({
  getParentRoute: () => shell,
  path: "/workers/$id",
  component: lazyRouteComponent(() => import("@/pages/workers/WorkerPage"), "WorkerPage"),
});

const spec = createRoute({
  getParentRoute: () => supervisor,
  path: "/spec",
  validateSearch: specSearch,
  component: lazyRouteComponent(() => import("@/pages/supervisor/spec/Spec"), "Spec"),
});

const history = createRoute({
  getParentRoute: () => supervisor,
  path: "/history",
  validateSearch: historySearch,
  component: lazyRouteComponent(() => import("@/pages/supervisor/history/History"), "History"),
});

const supervisorTasks = createRoute({
  getParentRoute: () => supervisor,
  path: "/tasks",
  validateSearch: tasksSearch,
  component: lazyRouteComponent(
    () => import("@/pages/supervisor/tasks/SupervisorTasks"),
    "SupervisorTasks",
  ),
});

const tasks = createRoute({
  getParentRoute: () => shell,
  path: "/tasks",
  validateSearch: tasksSearch,
  component: lazyRouteComponent(() => import("@/pages/tasks/TasksPage"), "TasksPage"),
});

const task = createRoute({
  getParentRoute: () => shell,
  path: "/tasks/$task",
  component: lazyRouteComponent(() => import("@/pages/task/TaskPage"), "TaskPage"),
});

const taskIndex = createRoute({
  getParentRoute: () => task,
  path: "/",
  beforeLoad: ({ params }) => {
    throw redirect({ to: "/tasks/$task/summary", params, replace: true });
  },
});

const taskSummary = createRoute({
  getParentRoute: () => task,
  path: "/summary",
  component: lazyRouteComponent(() => import("@/pages/task/summary/Summary"), "Summary"),
});

const taskLog = createRoute({
  getParentRoute: () => task,
  path: "/log",
  validateSearch: logSearch,
  component: lazyRouteComponent(() => import("@/pages/task/log/Log"), "Log"),
});

const taskReport = createRoute({
  getParentRoute: () => task,
  path: "/report",
  component: lazyRouteComponent(() => import("@/pages/task/report/Report"), "Report"),
});

const taskPayload = createRoute({
  getParentRoute: () => task,
  path: "/payload",
  component: lazyRouteComponent(() => import("@/pages/task/payload/Payload"), "Payload"),
});

const tables = createRoute({
  getParentRoute: () => shell,
  path: "/tables",
  validateSearch: tablesSearch,
  component: lazyRouteComponent(() => import("@/pages/tables/TablesPage"), "TablesPage"),
});

const table = createRoute({
  getParentRoute: () => shell,
  path: "/tables/$ds",
  component: lazyRouteComponent(() => import("@/pages/table/TablePage"), "TablePage"),
});

const tableIndex = createRoute({
  getParentRoute: () => table,
  path: "/",
  beforeLoad: ({ params }) => {
    throw redirect({ to: "/tables/$ds/summary", params, replace: true });
  },
});

const tableSummary = createRoute({
  getParentRoute: () => table,
  path: "/summary",
  component: lazyRouteComponent(() => import("@/pages/table/summary/Summary"), "Summary"),
});

const tableCoverage = createRoute({
  getParentRoute: () => table,
  path: "/coverage",
  validateSearch: coverageSearch,
  component: lazyRouteComponent(() => import("@/pages/table/coverage/Coverage"), "Coverage"),
});

const tableTime = createRoute({
  getParentRoute: () => table,
  path: "/time",
  validateSearch: timeSearch,
  component: lazyRouteComponent(() => import("@/pages/table/time/TimeTab"), "TimeTab"),
});

const tableFiles = createRoute({
  getParentRoute: () => table,
  path: "/files",
  validateSearch: filesSearch,
  component: lazyRouteComponent(() => import("@/pages/table/files/Files"), "Files"),
});

const tableExports = createRoute({
  getParentRoute: () => table,
  path: "/exports",
  component: lazyRouteComponent(() => import("@/pages/table/exports/Exports"), "Exports"),
});

const tableRules = createRoute({
  getParentRoute: () => table,
  path: "/rules",
  component: lazyRouteComponent(() => import("@/pages/table/rules/Rules"), "Rules"),
});

const tableCode = createRoute({
  getParentRoute: () => table,
  path: "/code",
  validateSearch: codeSearch,
  component: lazyRouteComponent(() => import("@/pages/table/code/Code"), "Code"),
});

const queues = createRoute({
  getParentRoute: () => shell,
  path: "/queues",
  validateSearch: queuesSearch,
  component: lazyRouteComponent(() => import("@/pages/queues/QueuesPage"), "QueuesPage"),
});

const queue = createRoute({
  getParentRoute: () => shell,
  path: "/queues/$container/$name",
  validateSearch: queueSearch,
  component: lazyRouteComponent(() => import("@/pages/queues/QueuePage"), "QueuePage"),
});

const flows = createRoute({
  getParentRoute: () => shell,
  path: "/flows",
  validateSearch: flowsSearch,
  component: lazyRouteComponent(() => import("@/pages/flows/FlowsPage"), "FlowsPage"),
});

const flow = createRoute({
  getParentRoute: () => shell,
  path: "/flows/$flow",
  validateSearch: flowSearch,
  component: lazyRouteComponent(() => import("@/pages/flow/FlowPage"), "FlowPage"),
});

const executions = createRoute({
  getParentRoute: () => shell,
  path: "/executions",
  validateSearch: executionsSearch,
  component: lazyRouteComponent(
    () => import("@/pages/executions/ExecutionsPage"),
    "ExecutionsPage",
  ),
});

const execution = createRoute({
  getParentRoute: () => shell,
  path: "/executions/$execution",
  validateSearch: executionSearch,
  component: lazyRouteComponent(() => import("@/pages/execution/ExecutionPage"), "ExecutionPage"),
});

const executors = createRoute({
  getParentRoute: () => shell,
  path: "/executors",
  component: lazyRouteComponent(() => import("@/pages/executors/ExecutorsPage"), "ExecutorsPage"),
});

const deadInputs = createRoute({
  getParentRoute: () => shell,
  path: "/executors/dead-inputs",
  validateSearch: deadInputsSearch,
  component: lazyRouteComponent(
    () => import("@/pages/deadInputs/DeadInputsPage"),
    "DeadInputsPage",
  ),
});

const work = createRoute({
  getParentRoute: () => shell,
  path: "/work",
  validateSearch: workSearch,
  component: lazyRouteComponent(() => import("@/pages/work/WorkPage"), "WorkPage"),
});

const letters = createRoute({
  getParentRoute: () => shell,
  path: "/logs/dead-letters",
  validateSearch: lettersSearch,
  component: lazyRouteComponent(() => import("@/pages/letters/LettersPage"), "LettersPage"),
});

const logs = createRoute({
  getParentRoute: () => shell,
  path: "/logs",
  validateSearch: linesSearch,
  component: lazyRouteComponent(() => import("@/pages/logs/LinesPage"), "LinesPage"),
});

const reports = createRoute({
  getParentRoute: () => shell,
  path: "/logs/reports",
  validateSearch: reportsSearch,
  component: lazyRouteComponent(() => import("@/pages/logs/ReportsPage"), "ReportsPage"),
});

const audit = createRoute({
  getParentRoute: () => shell,
  path: "/audit",
  validateSearch: auditSearch,
  component: lazyRouteComponent(() => import("@/pages/audit/AuditPage"), "AuditPage"),
});

const denied = createRoute({
  getParentRoute: () => shell,
  path: "/audit/denied",
  component: lazyRouteComponent(() => import("@/pages/audit/DeniedPage"), "DeniedPage"),
});

const settings = createRoute({
  getParentRoute: () => shell,
  path: "/settings",
  component: lazyRouteComponent(() => import("@/pages/settings/SettingsPage"), "SettingsPage"),
});

const supervisorTabs = supervisor.addChildren([
  supervisorIndex,
  supervisorOverview,
  partitions,
  timeline,
  why,
  spec,
  history,
  badRecords,
  supervisorTasks,
  events,
]);
const taskTabs = task.addChildren([taskIndex, taskSummary, taskLog, taskReport, taskPayload]);
const tableTabs = table.addChildren([
  tableIndex,
  tableSummary,
  tableCoverage,
  tableTime,
  tableFiles,
  tableExports,
  tableRules,
  tableCode,
]);

export const router = createRouter({
  routeTree: root.addChildren([
    login,
    shell.addChildren([
      home,
      supervisors,
      supervisorTabs,
      tasks,
      taskTabs,
      tables,
      tableTabs,
      flows,
      flow,
      executions,
      execution,
      executors,
      deadInputs,
      workers,
      worker,
      queues,
      queue,
      work,
      letters,
      logs,
      reports,
      audit,
      denied,
      settings,
    ]),
  ]),
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
