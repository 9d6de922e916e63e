import { expect, it } from "vitest";
import { filtersOf, weftArguments } from "./runs-query.ts";

it("reads the filters of an address, and ignores everything else", () => {
  const address = new URLSearchParams(
    "status=failed&workflow=a&param.depth=3&error=&page=2&status2=x&other=1",
  );
  expect(filtersOf(address)).toEqual({ status: "failed", workflow: "a", "param.depth": "3" });
  expect(filtersOf(new URLSearchParams("status=nonsense"))).toEqual({});
});

it("names the same list for the command line", () => {
  const filters = { status: "failed", "param.depth": "3", error: "no bucket" };
  expect(weftArguments(filters, { offset: 50, limit: 50 })).toEqual([
    "runs",
    "--status",
    "failed",
    "--param",
    "depth=3",
    "--error",
    "no bucket",
    "--offset",
    "50",
    "--limit",
    "50",
  ]);
});
