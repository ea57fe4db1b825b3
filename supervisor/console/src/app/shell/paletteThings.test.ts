import { expect, test } from "vitest";
import { namesIn } from "./paletteThings";

test("tables are found by their letters, and no more than five", () => {
  const names = ["big-orders", "Orders", "clicks", ...Array.from("123456", (n) => `orders-${n}`)];

  expect(namesIn(names, "order")).toEqual([
    "Orders",
    "orders-1",
    "orders-2",
    "orders-3",
    "orders-4",
  ]);
  expect(namesIn(names, "big")).toEqual(["big-orders"]);
  expect(namesIn(names, "")).toEqual([]);
  expect(namesIn(undefined, "a")).toEqual([]);
});
