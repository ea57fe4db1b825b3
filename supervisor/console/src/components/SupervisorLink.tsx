import { Link } from "@tanstack/react-router";
import { Foreign } from "./Foreign";

/** Leads to a supervisor, by its name or by another text. */
export function SupervisorLink({ id, text = id }: { id: string; text?: string }) {
  return (
    <Link to="/supervisors/$id/overview" params={{ id }}>
      <Foreign>{text}</Foreign>
    </Link>
  );
}
