import { Link } from "@tanstack/react-router";
import { Foreign } from "./Foreign";

/** Leads to a task. */
export function TaskLink({ id }: { id: string }) {
  return (
    <Link to="/tasks/$task/summary" params={{ task: id }}>
      <Foreign>{id}</Foreign>
    </Link>
  );
}
