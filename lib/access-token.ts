import { randomBytes } from "node:crypto";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** File name in the data folder. */
export const TOKEN_FILE = "access-token";
const TOKEN_BYTES = 32;

/**
 * The owner's token: from the environment, otherwise generated at the first start and stored in clear text in a file
 * that only its owner can read.
 */
export async function accessToken(
  dataDir: string,
  given: string | undefined,
): Promise<{ value: string; source: "environment" | "file" }> {
  if (given !== undefined) return { value: given, source: "environment" };
  const path = join(dataDir, TOKEN_FILE);
  try {
    await writeFile(path, `${randomBytes(TOKEN_BYTES).toString("base64url")}\n`, { flag: "wx", mode: 0o600 });
  } catch (error) {
    if ((error as { code?: unknown }).code !== "EEXIST") throw error;
  }
  const found = await stat(path);
  if (!found.isFile()) throw new Error(`${TOKEN_FILE} is not a file: remove ${path} and start again`);
  if ((found.mode & 0o077) !== 0) throw new Error(`${TOKEN_FILE} is readable by others: chmod 600 ${path}`);
  const value = (await readFile(path, "utf8")).trim();
  if (value === "") throw new Error(`${TOKEN_FILE} is empty: remove ${path} and start again`);
  return { value, source: "file" };
}
