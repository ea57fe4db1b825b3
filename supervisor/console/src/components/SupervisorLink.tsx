import { Link } from "@tanstack/react-router";
import { Foreign } from "./Foreign";

/** Leads to a supervisor. */
export function SupervisorLink({ id }: { id: string }) {
  return (
    <Link to="/supervisors/$id/overview" params={{ id }}>
      <Foreign>{id}</Foreign>
    </Link>
  );
}
