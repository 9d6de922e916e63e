import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";
import { EDITOR_PACKAGES, findEditorWriters, isMissingPackages, licenseNotice } from "./editor-packages.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "weft-packages-"));
  await install("@blocknote/core", "1.2.3", "MPL-2.0");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function install(name: string, version: string, license: string): Promise<void> {
  const path = join(folder, "node_modules", name);
  await mkdir(path, { recursive: true });
  await writeFile(join(path, "package.json"), JSON.stringify({ name, version, license, exports: {} }));
}
const find = (publishAsMit: boolean) =>
  findEditorWriters({ publishAsMit }, pathToFileURL(join(folder, "lib/module.js")).href);

it("finds the installed packages and their license only with PUBLISH_AS_MIT=false", async () => {
  for (const name of EDITOR_PACKAGES) await install(name, "1.2.3", "GPL-3.0 OR PROPRIETARY");
  expect(find(true)).toBeUndefined();
  const found = find(false);
  expect(found).toEqual({ version: "1.2.3", license: "GPL-3.0 OR PROPRIETARY" });
  expect(licenseNotice(found!)).toMatch(
    /^License of this build: GPL-3\.0 OR PROPRIETARY \(PUBLISH_AS_MIT=false adds @blocknote\/xl-docx-exporter 1\.2\.3, /,
  );
});

it("names missing packages, and those of another release than the editor, in one sentence", async () => {
  for (const name of EDITOR_PACKAGES.slice(1)) await install(name, "1.2.3", "GPL-3.0");
  await install("@blocknote/xl-pdf-exporter", "1.2.4", "GPL-3.0");
  const failure = (): unknown => {
    try {
      return find(false);
    } catch (error) {
      return error;
    }
  };
  expect(isMissingPackages(failure())).toBe(true);
  expect((failure() as Error).message).toBe(
    "PUBLISH_AS_MIT=false needs @blocknote/xl-docx-exporter 1.2.3, @blocknote/xl-pdf-exporter 1.2.3: run npm install " +
      "--no-save @blocknote/xl-docx-exporter@1.2.3 @blocknote/xl-odt-exporter@1.2.3 @blocknote/xl-pdf-exporter@1.2.3 " +
      "@blocknote/xl-multi-column@1.2.3, or unset PUBLISH_AS_MIT.",
  );
  expect(find(true)).toBeUndefined();
});
