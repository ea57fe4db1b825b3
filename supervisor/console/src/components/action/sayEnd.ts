import { notifications } from "@mantine/notifications";
import { get } from "@/api/client";
import { allEnded, ended, endOf, endOfMany, operationIn } from "./followed";

const pause = (millis: number) => new Promise<void>((resolve) => setTimeout(resolve, millis));
const look = (operation: string) => get("/api/v1/operations/{operation}", { path: { operation } });

/** Says how an operation of this tab ends, once it does; the person may be elsewhere by then. */
export async function sayEnd(answer: unknown): Promise<void> {
  const operation = operationIn(answer);
  const end = operation === null ? null : await ended(() => look(operation), pause);
  if (end !== null) {
    say(endOf(end), end.state === "failed");
  }
}

/** Says once how the same has ended for many. */
export async function sayEnds(verb: string, operations: readonly string[]): Promise<void> {
  const ends = await allEnded(operations, look, pause);
  if (ends.length > 0) {
    say(
      endOfMany(verb, ends),
      ends.some(({ state }) => state === "failed"),
    );
  }
}

function say(message: string, isBad: boolean): void {
  notifications.show({ message, ...(isBad ? { color: "red", autoClose: false } : {}) });
}
