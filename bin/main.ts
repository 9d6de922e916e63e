import { runCommand } from "./run-command.ts";

// A reader such as `head` may close the pipe before everything is written.
process.stdout.on("error", () => {});
if (process.env.WEFT_HANDED_OVER !== undefined) {
  // The launcher was killed, so it cannot forward signals.
  process.on("disconnect", () => process.kill(process.pid, "SIGTERM"));
  process.channel?.unref();
  delete process.env.WEFT_HANDED_OVER;
}

process.exitCode = await runCommand(process.argv.slice(2));
