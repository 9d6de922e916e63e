import { execFile } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { copyFile, mkdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { installPackages } from "../sam/python.ts";

const run = promisify(execFile);

const HERE = fileURLToPath(new URL(".", import.meta.url));
const INSTALL_TIMEOUT_MS = 10 * 60_000;
const OUTPUT_BYTES = 64 * 1024 * 1024;

/** Folder of the emulators: `WEFT_EMULATORS_DIR`, or a cache folder beside the packages. */
export function emulatorsFolder(environment: Readonly<Record<string, string | undefined>>): string {
  const chosen = environment.WEFT_EMULATORS_DIR;
  if (chosen !== undefined && chosen !== "") return chosen;
  return fileURLToPath(new URL("../../node_modules/.cache/weft-emulators", import.meta.url));
}

/** Installs DynamoDB Local with its libraries from Maven Central; returns the folder. Needs `mvn` and JDK 17 or later. */
export function installDynamoDbLocal(root: string): Promise<string> {
  const sources = ["dynamodb-local/pom.xml", "dynamodb-local/LoopbackDynamoDb.java"];
  return installOnce(root, "dynamodb-local", sources, async (folder) => {
    const libraries = await installLibraries(folder, "dynamodb-local/pom.xml");
    const program = join(HERE, "dynamodb-local/LoopbackDynamoDb.java");
    await runInstaller("javac", ["-cp", join(libraries, "*"), "-d", join(folder, "classes"), program]);
  });
}

/** Installs veraPDF's libraries from Maven Central; returns the folder. Needs `mvn` and JDK 17 or later. */
export function installVeraPdf(root: string): Promise<string> {
  return installOnce(root, "verapdf", ["verapdf/pom.xml", "verapdf/CheckPdf.java"], async (folder) => {
    const libraries = await installLibraries(folder, "verapdf/pom.xml");
    const program = join(HERE, "verapdf/CheckPdf.java");
    await runInstaller("javac", ["-cp", join(libraries, "*"), "-d", join(folder, "classes"), program]);
  });
}

/** Copies the libraries of a project to the folder `libraries`, and returns its path. */
async function installLibraries(folder: string, source: string): Promise<string> {
  const pom = join(folder, "pom.xml");
  await copyFile(join(HERE, source), pom);
  const libraries = join(folder, "libraries");
  await runInstaller("mvn", [
    "-B",
    "-q",
    "-f",
    pom,
    `-Dmaven.repo.local=${join(folder, "repository")}`,
    "dependency:copy-dependencies",
    "-DincludeScope=runtime",
    `-DoutputDirectory=${libraries}`,
  ]);
  await rm(join(folder, "repository"), { recursive: true });
  return libraries;
}

/** Installs moto's server in its own virtual environment; returns the folder. Needs Python 3.9 or later as `python3`. */
export function installMoto(root: string): Promise<string> {
  return installPython(root, "moto", "moto/requirements.txt");
}

/** Installs LocalStack in its own virtual environment; returns the folder. Needs Python 3.13. */
export async function installLocalStack(root: string): Promise<string> {
  return installPython(root, "localstack", "localstack/requirements.txt", findPython313);
}

/** Installs the SAM CLI and cfn-lint in their own virtual environment; returns the folder. */
export function installSam(root: string): Promise<string> {
  return installPython(root, "weft-sam", "../sam/requirements.txt");
}

function installPython(
  root: string,
  name: string,
  requirements: string,
  findPython: () => Promise<string> = async () => "python3",
): Promise<string> {
  return installOnce(root, name, [requirements], async (folder) => {
    await installPackages({ folder, requirements: join(HERE, requirements), python: await findPython() });
  });
}

/** The version that LocalStack 4.14 is tested with: older ones cannot parse its code. */
async function findPython313(): Promise<string> {
  const print = "import sys; print('%d.%d' % sys.version_info[:2], sys.executable)";
  for (const command of ["python3.13", "python3"]) {
    try {
      // pyenv hides versions other than the global one unless this variable names them.
      const { stdout } = await run(command, ["-c", print], {
        env: { ...process.env, PYENV_VERSION: "3.13" },
      });
      const [, executable] = /^3\.13 (.+)$/m.exec(stdout) ?? [];
      if (executable !== undefined) return executable;
    } catch {
      // Missing, or another version.
    }
  }
  throw new Error("LocalStack needs Python 3.13, as python3.13 or python3 on the path");
}

/**
 * Installs into a folder named after a hash of the sources. The `installed` file is written last: without it, the
 * installation is incomplete. A virtual environment contains its own path, so it cannot be built elsewhere and moved.
 */
async function installOnce(
  root: string,
  name: string,
  sources: readonly string[],
  install: (folder: string) => Promise<void>,
): Promise<string> {
  const hash = createHash("sha256");
  for (const source of sources) hash.update(await readFile(join(HERE, source)));
  const folder = join(root, `${name}-${hash.digest("hex").slice(0, 12)}`);
  const completedFile = join(folder, "installed");
  if (existsSync(completedFile)) return folder;
  // Remove what an interrupted installation has left behind.
  if (existsSync(folder)) {
    const replaced = `${folder}.${randomUUID()}`;
    await rename(folder, replaced);
    await rm(replaced, { recursive: true });
  }
  await mkdir(folder, { recursive: true });
  await install(folder);
  await mkdir(completedFile);
  return folder;
}

async function runInstaller(command: string, args: readonly string[]): Promise<void> {
  try {
    await run(command, args, { timeout: INSTALL_TIMEOUT_MS, maxBuffer: OUTPUT_BYTES });
  } catch (error) {
    const { code, stdout, stderr } = error as { code?: unknown; stdout?: string; stderr?: string };
    if (code === "ENOENT") throw new Error(`the emulators need ${command}, which is not installed`);
    const output = `${stdout ?? ""}${stderr ?? ""}`.trim().slice(-4000);
    throw new Error(`${command} ${args.join(" ")} failed: ${output}`, { cause: error });
  }
}

/** Installs what the tests of AWS's adapters and of exported files need, which otherwise happens when they start. */
if (import.meta.main) {
  const root = emulatorsFolder(process.env);
  await mkdir(root, { recursive: true });
  await Promise.all([installDynamoDbLocal(root), installMoto(root), installVeraPdf(root)]);
}
