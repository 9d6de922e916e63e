import { spawn } from "node:child_process";
import type { Terminal } from "./terminal.ts";

/** A program that runs longer than this shows the page itself, milliseconds. */
const START_MAX_MS = 3_000;

/** Opens the address in the user's browser. Returns false if this machine has no browser. */
export function openBrowser(url: string, env: Terminal["env"]): Promise<boolean> {
  const [program, args] = browserCommand(url);
  // Without a screen, xdg-open would start a browser in the terminal.
  if (program === "xdg-open" && !env.DISPLAY && !env.WAYLAND_DISPLAY) return Promise.resolve(false);
  const child = spawn(program, args, { detached: true, stdio: "ignore" });
  child.unref();
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(true), START_MAX_MS);
    const settle = (opened: boolean): void => {
      clearTimeout(timer);
      resolve(opened);
    };
    child.once("error", () => settle(false));
    child.once("exit", (code) => settle(code === 0));
  });
}

function browserCommand(url: string): [program: string, args: string[]] {
  if (process.platform === "darwin") return ["open", [url]];
  // `start` would read an ampersand in the address as the next command.
  if (process.platform === "win32") return ["rundll32", ["url.dll,FileProtocolHandler", url]];
  return ["xdg-open", [url]];
}
