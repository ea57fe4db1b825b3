import { Link } from "@tanstack/react-router";
import { Foreign } from "@/components/Foreign";

/** The way to an execution, by its id or by another text. */
export function ExecutionLink({ id, text = id }: { id: string; text?: string }) {
  return (
    <Link to="/executions/$execution" params={{ execution: id }}>
      <Foreign>{text}</Foreign>
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
