import { Link } from "@tanstack/react-router";
import { Foreign } from "./Foreign";

/** Leads to a task, by its id or by words. */
export function TaskLink({ id, words }: { id: string; words?: string }) {
  return (
    <Link to="/tasks/$task/summary" params={{ task: id }}>
      {words ?? <Foreign>{id}</Foreign>}
    </Link>
  );
}
