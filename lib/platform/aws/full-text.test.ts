import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fullTextContract } from "../contract/full-text-contract.ts";
import type { ContractPlatform } from "../contract/resources.ts";
import { CONTRACT_RESOURCES } from "../contract/resources.ts";
import { openForTest, temporaryFolder } from "../embedded/test-platform.ts";
import { PlatformFault } from "../faults.ts";
import type { Tables } from "../tables.ts";
import { tableFullText } from "./full-text.ts";

describe("full-text search over tables", () => {
  let open: (ContractPlatform & { readonly tables: Tables }) | undefined;
  const tables = (): Tables => {
    if (open === undefined) throw new Error("not open");
    return open.tables;
  };
  beforeAll(async () => {
    const folder = await temporaryFolder();
    const { ports, close } = await openForTest(folder.path, CONTRACT_RESOURCES);
    open = {
      ports: { ...ports, fullText: tableFullText(ports.tables) },
      tables: ports.tables,
      close: async () => {
        await close();
        await folder.remove();
      },
    };
  });
  afterAll(() => open?.close());
  fullTextContract(() => {
    if (open === undefined) throw new Error("not open");
    return open.ports;
  });

  const text = (version: string, body: string) => ({
    id: "interrupted",
    version,
    data: new Uint8Array(),
    words: { title: [], headings: [], body: [body], comments: [] },
  });
  const many = (prefix: string): string => Array.from({ length: 250 }, (_, at) => `${prefix}${at}`).join(" ");
  const has = async (word: string): Promise<boolean> =>
    (await tableFullText(tables()).find([{ words: [word], isPrefix: false }], [{ id: "interrupted" }]))[0] !==
    undefined;

  it("completes a change of many words that was interrupted", async () => {
    const fullText = tableFullText(tables());
    expect(await fullText.put(text("1", "first"), undefined)).toBe(true);
    let writes = 0;
    const failing: Tables = {
      ...tables(),
      write: (list) => {
        writes += 1;
        if (writes === 3) return Promise.reject(new PlatformFault("unavailable", "interrupted"));
        return tables().write(list);
      },
    };
    await expect(tableFullText(failing).put(text("2", many("lost")), "1")).rejects.toThrow("interrupted");
    const [stored] = await fullText.get(["interrupted"]);
    expect(stored?.version).not.toBe("1");
    expect(await fullText.put(text("3", "third"), stored?.version)).toBe(true);
    expect(await Promise.all(["third", "first", "lost0", "lost249"].map(has))).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });

  it("stops a change of many words that was overtaken", async () => {
    const fullText = tableFullText(tables());
    const [before] = await fullText.get(["interrupted"]);
    const overtaken: Tables = {
      ...tables(),
      write: async (list) => {
        const [first] = list;
        if (first?.op === "check") {
          const [stored] = await fullText.get(["interrupted"]);
          if (stored?.version.startsWith("4") === true)
            expect(await fullText.put(text("5", "fifth"), stored.version)).toBe(true);
        }
        return tables().write(list);
      },
    };
    expect(await tableFullText(overtaken).put(text("4", many("late")), before?.version)).toBe(false);
    expect(await Promise.all(["fifth", "late0", "late249"].map(has))).toEqual([true, false, false]);
  });
});
