import { notifications } from "@mantine/notifications";
import type { Problem } from "@/api/problem";
import { visible } from "@/text/visible";
import { Details } from "./ProblemNote";

/** Says in a toast what went wrong; it stays, as somebody may want its request id. */
export function showProblem(problem: Problem): void {
  const { title, detail } = problem;
  notifications.show({
    title: visible(title),
    message: (
      <>
        {detail !== title && visible(detail)} <Details problem={problem} />
      </>
    ),
    color: "red",
    autoClose: false,
  });
}
