import { Link } from "@tanstack/react-router";
import { Foreign } from "./Foreign";

/** Leads to a worker. */
export function WorkerLink({ id }: { id: string }) {
  return (
    <Link to="/workers/$id" params={{ id }}>
      <Foreign>{id}</Foreign>
    </Link>
  );
}
