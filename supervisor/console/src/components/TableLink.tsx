import { Link } from "@tanstack/react-router";
import { Foreign } from "./Foreign";

/** Leads to a table. */
export function TableLink({ name }: { name: string }) {
  return (
    <Link to="/tables/$ds/summary" params={{ ds: name }}>
      <Foreign>{name}</Foreign>
    </Link>
  );
}
