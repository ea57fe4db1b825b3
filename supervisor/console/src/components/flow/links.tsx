import { Link } from "@tanstack/react-router";
import { Foreign } from "@/components/Foreign";

/** The way to an execution. */
export function ExecutionLink({ id }: { id: string }) {
  return (
    <Link to="/executions/$execution" params={{ execution: id }}>
      <Foreign>{id}</Foreign>
    </Link>
  );
}

/** The way to a flow. */
export function FlowLink({ flow }: { flow: string }) {
  return (
    <Link to="/flows/$flow" params={{ flow }}>
      <Foreign>{flow}</Foreign>
    </Link>
  );
}
