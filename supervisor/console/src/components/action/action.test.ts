import { describe, expect, it } from "vitest";
import { curlOf, neededFor } from "./action";

describe("a change", () => {
  it("needs what the overlord's OpenAPI says", () => {
    expect(neededFor("post", "/druid/indexer/v1/supervisor/{supervisor_id}/suspend")).toBe(
      "suspend",
    );
    expect(neededFor("post", "/druid/indexer/v1/supervisor/{supervisor_id}/reset")).toBe("reset");
  });

  it("can be sent by a shell, whatever its name holds", () => {
    const request = { verb: "post", path: "/x/it's/suspend", body: `{"a":"'"}` } as const;

    expect(curlOf(request, "http://h", "k1")).toBe(
      `curl -X POST -H "Authorization: Bearer $TIDEGATE_TOKEN" -H 'Idempotency-Key: k1' ` +
        `-H 'Content-Type: application/json' -d '{"a":"'\\''"}' 'http://h/x/it'\\''s/suspend'`,
    );
  });
});
