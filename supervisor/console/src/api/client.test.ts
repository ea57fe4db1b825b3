import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Problem } from "./problem";

beforeEach(() => {
  vi.stubGlobal(
    "Request",
    class extends Request {
      constructor(path: string, init?: RequestInit) {
        super(new URL(path, "http://localhost"), init);
      }
    },
  );
});

afterEach(() => {
  vi.unstubAllGlobals();
});

test("an answer that breaks off in its body is no answer", async () => {
  await isNoAnswer(
    () => new ReadableStream({ start: (body) => body.error(new TypeError("network error")) }),
  );
});

test("a page of a proxy is no answer", async () => {
  await isNoAnswer(() => "<html>Log in to the network</html>");
});

async function isNoAnswer(bodyOf: () => BodyInit): Promise<void> {
  vi.stubGlobal("fetch", async () => new Response(bodyOf()));
  const { get } = await import("./client");

  const problem = await get("/status").catch((error: unknown) => error);

  expect(problem).toBeInstanceOf(Problem);
  expect(problem).toMatchObject({ status: 0, kind: "no-answer", title: "No answer" });
}
