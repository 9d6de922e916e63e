import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { SHARED_BASE_DIR } from "../workspaces/paths.ts";

/** Facts about the installation that built-in variables expose. Reference 2.9. */
export interface Installation {
  /** The data folder; contains the folders for tools and data of workflows. */
  readonly baseDir: string;
  readonly version: string;
  readonly inDocker: boolean;
  readonly inKubernetes: boolean;
  /** `aws`, or "" outside a cloud. */
  readonly cloudProvider: string;
}

/** Folders in the base folder, by their built-in variables. */
const BASE_FOLDERS = {
  Binaries: "external-binaries",
  Data: "external-data",
  ExternalData: "external-data",
  ExternalConfigs: "external-configs",
  ExternalAgentConfigs: "external-agent-configs",
  ExternalAgents: "external-agent-configs",
  ExternalScripts: "external-scripts",
  MarkdownTemplates: "markdown-report-templates",
  ExternalMarkdowns: "markdown-report-templates",
  SnapshotsFolder: "snapshot",
  Workflows: "workflows",
} as const;
/** Script functions cannot access these: their files are executed. */
const EXECUTED: ReadonlySet<string> = new Set([BASE_FOLDERS.Binaries, BASE_FOLDERS.Workflows]);

export function baseFolders(baseDir: string): Record<keyof typeof BASE_FOLDERS, string> {
  return Object.fromEntries(
    Object.entries(BASE_FOLDERS).map(([name, folder]) => [name, join(baseDir, folder)]),
  ) as Record<keyof typeof BASE_FOLDERS, string>;
}

/** Base folders that script functions may access. */
export function functionBaseFolders(baseDir: string): string[] {
  return [...new Set(Object.values(BASE_FOLDERS))]
    .filter((folder) => !EXECUTED.has(folder))
    .map((folder) => join(baseDir, folder));
}

/** Creates the folders, so that users find them and commands that list them do not fail. */
export async function makeBaseFolders(baseDir: string): Promise<void> {
  for (const path of new Set(Object.values(baseFolders(baseDir)))) await mkdir(path, { recursive: true });
}

/** Detects the installation of this process; if machines share runs, the folder has its shared name. */
export function readInstallation(
  workspacesDir: string,
  options: {
    readonly version: string;
    readonly isShared: boolean;
    readonly onAws: boolean;
    readonly environment: Readonly<Record<string, string | undefined>>;
  },
): Installation {
  const inKubernetes = options.environment["KUBERNETES_SERVICE_HOST"] !== undefined;
  return {
    baseDir: options.isShared ? SHARED_BASE_DIR : dirname(workspacesDir),
    version: options.version,
    inDocker: existsSync("/.dockerenv") || existsSync("/run/.containerenv"),
    inKubernetes,
    cloudProvider: options.onAws ? "aws" : "",
  };
}
