import { execFile } from "node:child_process";
import { copyFile, glob, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

/** Fonts under the SIL Open Font License as TTF, which Typst reads, by package. Choice: infra/decisions/0164. */
const PACKAGES = {
  "@expo-google-fonts/noto-emoji": "0.4.7",
  "@expo-google-fonts/noto-sans-arabic": "0.4.3",
  "@expo-google-fonts/noto-sans-jp": "0.4.3",
  "@expo-google-fonts/noto-sans-kr": "0.4.3",
  "@expo-google-fonts/noto-sans-sc": "0.4.3",
} as const;
const WEIGHTS = ["400Regular", "700Bold"];
const LICENSE = "LICENSE_FONT";
/** What `sam build` has built of the function that writes PDFs. */
const BUILT = ".aws-sam/build/**/RendererFunction";

/**
 * Copies fonts for Arabic, Chinese, Japanese, Korean and emoji into folders: those that are named, or else that of the
 * built function.
 */
const named = process.argv.slice(2);
const folders =
  named.length > 0 ? named : (await Array.fromAsync(glob(BUILT))).map((path) => join(path, "fonts"));
if (folders.length === 0) throw new Error("Name a folder, or run `sam build` first.");
const temporary = await mkdtemp(join(tmpdir(), "weft-fonts-"));
try {
  const packages = Object.entries(PACKAGES).map(([name, version]) => `${name}@${version}`);
  const options = ["--no-save", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", temporary];
  await promisify(execFile)("npm", ["install", ...options, ...packages]);
  for (const folder of folders) {
    await mkdir(folder, { recursive: true });
    for (const name of Object.keys(PACKAGES)) {
      const from = join(temporary, "node_modules", name);
      for (const weight of WEIGHTS)
        for (const file of (await readdir(join(from, weight))).filter((name) => name.endsWith(".ttf")))
          await copyFile(join(from, weight, file), join(folder, file));
      await copyFile(join(from, LICENSE), join(folder, `${name.split("/").at(-1)}.license.txt`));
    }
    process.stdout.write(`copied: fonts to ${folder}\n`);
  }
} finally {
  await rm(temporary, { recursive: true, force: true });
}
