import { Foreign } from "./Foreign";

/** Leads to a task. */
export function TaskLink({ id }: { id: string }) {
  return (
    <a href={`/ui/tasks/${encodeURIComponent(id)}/summary`}>
      <Foreign>{id}</Foreign>
    </a>
  );
}
