import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { checkFolder, type ProcessExit, type Spawner, type SpawnRequest, startFailure } from "./spawner.ts";

/** Uses Node's child_process: portable, but slower the larger this process is, because it forks. */
export const nodeSpawner: Spawner = {
  spawn: async (request) => {
    const { pid, exited } = await launchProcess(request, ["ignore", request.stdout, request.stderr]);
    return { pid, exited };
  },
  close: () => {},
};

export interface LaunchedProcess {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly exited: Promise<ProcessExit>;
}

/** Starts a program in a new session. Rejects with PlatformFault `command_not_started`. */
export async function launchProcess(
  request: Omit<SpawnRequest, "stdout" | "stderr">,
  stdio: StdioOptions,
): Promise<LaunchedProcess> {
  const { program, args, cwd, env } = request;
  checkFolder(cwd);
  const child = start(program, args, { cwd, env: { ...env }, stdio });
  const exited = new Promise<ProcessExit>((resolve) =>
    child.once("exit", (exitCode, signal) => resolve({ exitCode, signal })),
  );
  const { pid } = child;
  if (pid === undefined) {
    throw startFailure(await new Promise((resolve) => child.once("error", resolve)));
  }
  // The error of a signal that could not be sent because the group is gone.
  child.on("error", () => {});
  return { child, pid, exited };
}

function start(
  program: string,
  args: readonly string[],
  options: { cwd: string; env: Record<string, string>; stdio: StdioOptions },
): ChildProcess {
  try {
    return spawn(program, [...args], { ...options, detached: true });
  } catch (error) {
    throw startFailure(error);
  }
}
