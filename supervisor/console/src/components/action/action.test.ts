import { describe, expect, it } from "vitest";
import { curlOf, neededFor } from "./action";
import { lackOfReason } from "./reason";

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

  it("takes its reason and the digest of its preview along", () => {
    const request = { verb: "post", path: "/x/reset?to=latest" } as const;
    const given = { expect: "ab12", reason: "50 % & more" };

    expect(curlOf(request, "http://h", "k1", given)).toContain(
      "'http://h/x/reset?to=latest&expect=ab12&reason=50%20%25%20%26%20more'",
    );
  });
});

describe("a reason", () => {
  it.each([
    ["", null],
    ["disk of broker 3 is full", null],
    ["😀".repeat(500), null],
    ["x".repeat(501), "501"],
    ["one\u0000two", "cannot be seen"],
    ["turned \u202e around", "cannot be seen"],
    ["half a sign \ud83d", "cannot be seen"],
  ])("%j is refused as the overlord refuses it", (text, part) => {
    const lack = lackOfReason(text);

    expect(part === null ? lack : (lack ?? "").includes(part)).toBe(part === null ? null : true);
  });
});
