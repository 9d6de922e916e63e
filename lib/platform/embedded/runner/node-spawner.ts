import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { checkFolder, type Exit, notStarted, type Spawner, type SpawnRequest } from "./spawner.ts";

/** Uses Node's child_process: portable, but slower the larger this process is, because it forks. */
export const nodeSpawner: Spawner = {
  spawn: async (request) => {
    const { pid, exited } = await launch(request, ["ignore", request.stdout, request.stderr]);
    return { pid, exited };
  },
  close: () => {},
};

export interface Launched {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly exited: Promise<Exit>;
}

/** Starts a program in a new session. Rejects with PlatformFault `command_not_started`. */
export async function launch(
  request: Omit<SpawnRequest, "stdout" | "stderr">,
  stdio: StdioOptions,
): Promise<Launched> {
  const { program, args, cwd, env } = request;
  checkFolder(cwd);
  const child = start(program, args, { cwd, env: { ...env }, stdio });
  const exited = new Promise<Exit>((resolve) =>
    child.once("exit", (exitCode, signal) => resolve({ exitCode, signal })),
  );
  const { pid } = child;
  if (pid === undefined) {
    throw notStarted(await new Promise((resolve) => child.once("error", resolve)));
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
    throw notStarted(error);
  }
}
