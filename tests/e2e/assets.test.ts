import { describe, expect, test } from "vitest";
import type { Page } from "../../lib/testing/test-server.ts";
import type { AssetRecord } from "../../lib/workflows/assets/list.ts";
import { sharedServer } from "./shared-server.ts";

const weft = sharedServer();

const assets = async (query: Record<string, string>) =>
  (await weft.get<Page<AssetRecord>>(`/assets?${new URLSearchParams({ limit: "100", ...query })}`)).data;

describe("GET /assets", () => {
  test.each([
    ["asset_value", "a.example"],
    ["value", "b.example"],
    ["url", "https://c.example/x"],
    ["host", "d.example"],
  ])("assets.new with the field %s stores an asset before the response", async (key, value) => {
    await weft.emit({ topic: "assets.new", workspace: "keys", data: { [key]: value } });
    const [asset] = await assets({ workspace: "keys" });
    expect(asset).toMatchObject({ workspace: "keys", asset_value: value, id: expect.any(Number) });
    expect(Date.parse(asset?.created_at ?? "")).not.toBeNaN();
  });

  test("asset.discovered stores an asset; the first non-empty field is its value", async () => {
    const data = { host: "last", url: "third", value: "second", asset_value: "" };
    await weft.emit({ topic: "asset.discovered", workspace: "first", data });
    expect((await assets({ workspace: "first" })).map((asset) => asset.asset_value)).toEqual(["second"]);
  });

  test.each([[{}], [{ value: "" }], [{ value: "  " }], [{ value: 7 }], [{ value: null }], [{ name: "x" }]])(
    "logs the event and stores no asset if the data has no value: %j",
    async (data) => {
      const before = (await weft.events({ topic: "assets.new", workspace: "none" })).length;
      await weft.emit({ topic: "assets.new", workspace: "none", data });
      expect(await assets({ workspace: "none" })).toEqual([]);
      expect((await weft.events({ topic: "assets.new", workspace: "none" })).length).toBe(before + 1);
    },
  );

  test("the same value in a workspace updates the asset and emits no second event", async () => {
    const ofAsset = async () => (await weft.events()).filter(({ data }) => data.includes("x.example")).length;
    const before = await ofAsset();
    const emit = (data: Record<string, unknown>) =>
      weft.emit({ topic: "assets.new", workspace: "same", data });
    await emit({ value: "x.example", title: "Old", status_code: 200 });
    const [first] = await assets({ workspace: "same" });
    await emit({ value: "x.example", title: "New" });
    const found = await assets({ workspace: "same" });
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({
      id: first?.id,
      created_at: first?.created_at,
      title: "New",
      status_code: 200,
    });
    expect(Date.parse(found[0]?.last_seen_at ?? "")).toBeGreaterThanOrEqual(
      Date.parse(first?.last_seen_at ?? ""),
    );
    await weft.emit({ topic: "assets.new", workspace: "other", data: { value: "x.example" } });
    expect((await assets({ search: "x.example" })).length).toBe(2);
    expect(await ofAsset()).toBe(before + 3);
  });

  test("derives the asset type from the value if the event has none", async () => {
    const kinds = {
      "https://e.example/": "url",
      "10.0.0.1": "ip",
      "e.example": "domain",
      "::1": "ip",
      "one two": "unknown",
    };
    for (const value of Object.keys(kinds))
      await weft.emit({ topic: "assets.new", workspace: "kinds", data: { value } });
    await weft.emit({
      topic: "assets.new",
      workspace: "kinds",
      data: { value: "f.example", asset_type: "host" },
    });
    const found = Object.fromEntries(
      (await assets({ workspace: "kinds" })).map((asset) => [asset.asset_value, asset.asset_type]),
    );
    expect(found).toEqual({ ...kinds, "f.example": "host" });
  });

  test("event data cannot overwrite fields that the server sets", async () => {
    const data = {
      value: "own",
      id: 999_999,
      created_at: "1970",
      workspace: "elsewhere",
      list: "x",
      pk: "p",
      sk: "s",
    };
    await weft.emit({ topic: "assets.new", workspace: "own", data });
    const [asset] = await assets({ workspace: "own" });
    expect(asset).toMatchObject({ workspace: "own", asset_value: "own" });
    expect(asset?.id).not.toBe(999_999);
    expect(asset).not.toHaveProperty("pk");
    expect(asset?.created_at).toMatch(/^20/);
  });

  test("searches find an asset by its current values only", async () => {
    const emit = (source: string, title: string) =>
      weft.emit({ topic: "assets.new", workspace: "changes", data: { value: "c.example", source, title } });
    const found = (query: Record<string, string>) => assets({ workspace: "changes", ...query });
    await emit("first", "Blue door");
    expect(await found({ source: "first", search: "blue" })).toHaveLength(1);
    await emit("second", "Green door");
    await expect.poll(() => found({ source: "second", search: "GREEN D" })).toHaveLength(1);
    expect([await found({ source: "first" }), await found({ search: "blue" })]).toEqual([[], []]);
    expect(await found({ search: "door" })).toHaveLength(1);
  });

  test("combines filters and pages through assets, newest first", async () => {
    const values = Array.from({ length: 25 }, (_, index) => `p${index}.example`);
    for (const value of values)
      await weft.emit({ topic: "assets.new", workspace: "paged", source: "s", data: { value } });
    const page = await weft.get<Page<AssetRecord>>("/assets?workspace=paged&offset=20&limit=20");
    expect(page.pagination).toEqual({ total: 25, offset: 20, limit: 20 });
    expect(page.data.map((asset) => asset.asset_value)).toEqual(values.slice(0, 5).reverse());
    expect(
      (await assets({ workspace: "paged", search: "P1", source: "s", asset_type: "domain" })).length,
    ).toBe(11);
    expect(await assets({ workspace: "paged", source: "other" })).toEqual([]);
  });
});
