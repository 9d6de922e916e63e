import { runCommand } from "./run-command.ts";
import type { CommandResult, RunnerCommand } from "./test-command.ts";

let out = "";
let error = "";
process.stdout.write = (text: string | Uint8Array) => {
  out += text.toString();
  return true;
};
process.stderr.write = (text: string | Uint8Array) => {
  error += text.toString();
  return true;
};

process.on("message", async ({ args, cwd, env }: RunnerCommand) => {
  out = "";
  error = "";
  process.chdir(cwd);
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  const code = await runCommand(args);
  const result: CommandResult = { code, out, error };
  process.send?.(result);
});
process.on("disconnect", () => process.exit());
