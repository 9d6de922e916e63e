import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { SHARED_BASE_DIR } from "../workspaces/paths.ts";

/** What built-in variables say of the installation that a run belongs to. Reference 2.9. */
export interface Installation {
  /** Holds the folders that people put tools and data for workflows in: the data folder. */
  readonly baseDir: string;
  readonly version: string;
  readonly inDocker: boolean;
  readonly inKubernetes: boolean;
  /** `aws`, or "" on a machine of one's own. */
  readonly cloudProvider: string;
}

/** Names inside of the base folder, by the variables that lead to them. */
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
/** Functions of scripts do not reach these: what lies in them is executed. */
const EXECUTED: ReadonlySet<string> = new Set([BASE_FOLDERS.Binaries, BASE_FOLDERS.Workflows]);

export function baseFolders(baseDir: string): Record<keyof typeof BASE_FOLDERS, string> {
  return Object.fromEntries(
    Object.entries(BASE_FOLDERS).map(([name, folder]) => [name, join(baseDir, folder)]),
  ) as Record<keyof typeof BASE_FOLDERS, string>;
}

/** Those of a data folder that functions of scripts may use, too. */
export function functionBaseFolders(baseDir: string): string[] {
  return [...new Set(Object.values(BASE_FOLDERS))]
    .filter((folder) => !EXECUTED.has(folder))
    .map((folder) => join(baseDir, folder));
}

/** People find the folders there, and commands that list them do not fail. */
export async function makeBaseFolders(baseDir: string): Promise<void> {
  for (const path of new Set(Object.values(baseFolders(baseDir)))) await mkdir(path, { recursive: true });
}

/** What is true of this process's machine; runs that several machines share get the shared name of the folder. */
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
