import { chmod, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fileSecrets } from "./secrets.ts";
import { temporaryFolder } from "./test-platform.ts";

describe("secrets in a file", () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let path: string;
  const write = async (text: string): Promise<void> => {
    await rm(path, { force: true });
    await writeFile(path, text, { mode: 0o600 });
  };
  beforeEach(async () => {
    folder = await temporaryFolder();
    path = join(folder.path, "secrets.env");
  });
  afterEach(() => folder.remove());

  it("reads names and values, and notices changes, creation and removal of the file", async () => {
    const secrets = fileSecrets(folder.path);
    expect(await secrets.get("A")).toBeUndefined();
    await write('A=first\n# a comment\nexport B="two words"\n');
    expect([await secrets.get("A"), await secrets.get("B")]).toEqual(["first", "two words"]);
    await write("A=second\n");
    expect([await secrets.get("A"), await secrets.get("B")]).toEqual(["second", undefined]);
    expect([await secrets.get("toString"), await secrets.get("__proto__")]).toEqual([undefined, undefined]);
    await rm(path);
    expect(await secrets.get("A")).toBeUndefined();
  });

  it("returns no secrets while others may read the file, and states the remedy", async () => {
    await write("A=value\n");
    await chmod(path, 0o640);
    const secrets = fileSecrets(folder.path);
    const refused = { code: "secrets_unreadable", message: expect.stringContaining(`chmod 600 ${path}`) };
    await expect(secrets.get("A")).rejects.toMatchObject(refused);
    await chmod(path, 0o600);
    expect(await secrets.get("A")).toBe("value");
    await chmod(path, 0o604);
    await expect(secrets.get("A")).rejects.toMatchObject(refused);
  });

  it("redacts a value in every form in which it may appear, and nothing else", async () => {
    const value = 's3cr&t "päss"/x';
    await write(`A='${value}'\nSHORT=abc\n`);
    const { redact, get } = fileSecrets(folder.path);
    expect(await get("A")).toBe(value);
    const base64 = Buffer.from(value).toString("base64");
    const json = JSON.stringify(value).slice(1, -1);
    const forms = [
      value,
      base64,
      base64.replaceAll("=", ""),
      Buffer.from(value).toString("base64url"),
      encodeURIComponent(value),
      new URLSearchParams({ q: value }).toString().slice(2),
      json,
      JSON.stringify(json).slice(1, -1),
    ];
    for (const form of forms) expect(redact(`<${form}|${form}>`)).toBe("<***|***>");
    for (const user of ["u:", "us:", "use:"]) {
      const header = Buffer.from(`${user}${value}`).toString("base64");
      expect(redact(header)).toContain("***");
      expect(Buffer.from(redact(header).split("***").join(""), "base64").toString()).not.toContain("s3cr");
    }
    expect(redact("abc stays, as does the rest")).toBe("abc stays, as does the rest");
  });

  it("redacts the longest value first, and also replaced values", async () => {
    await write("A=secret\nB=secret-longer\n");
    const secrets = fileSecrets(folder.path);
    expect(secrets.redact("secret-longer secret")).toBe("*** ***");
    await write("A=other\n");
    expect(await secrets.get("A")).toBe("other");
    secrets.alsoRedact("token-1234");
    expect(secrets.redact("secret other token-1234")).toBe("*** *** ***");
  });
});
