import { expect, test, vi } from "vitest";
import { Problem } from "./problem";

test("an answer that breaks off in its body is no answer", async () => {
  const cut = new ReadableStream({ start: (body) => body.error(new TypeError("network error")) });
  vi.stubGlobal("fetch", async () => new Response(cut, { headers: { "X-Request-Id": "1" } }));
  vi.stubGlobal("Request", class extends Request {
    constructor(path: string, init?: RequestInit) {
      super(new URL(path, "http://localhost"), init);
    }
  });
  const { get } = await import("./client");

  const problem = await get("/status").catch((error: unknown) => error);

  expect(problem).toBeInstanceOf(Problem);
  expect(problem).toMatchObject({ status: 0, kind: "no-answer", title: "No answer" });
  vi.unstubAllGlobals();
});
