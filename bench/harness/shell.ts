import { spawn } from "node:child_process";

/** Wall time of a bash script without the start of bash, milliseconds. Throws if the script fails. */
export async function shellMs(script: string): Promise<number> {
  const timed = `TIMEFORMAT=%6R; time { ${script}\n} 2>/dev/null`;
  const env = { ...process.env, LC_ALL: "C" };
  const child = spawn("bash", ["-c", timed], { env, stdio: ["ignore", "ignore", "pipe"] });
  let text = "";
  child.stderr.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  const code = await new Promise((resolve) => child.once("close", resolve));
  const seconds = Number(text.trim());
  if (code !== 0 || !(seconds > 0)) throw new Error(`the shell ended with ${code}: ${text}`);
  return seconds * 1000;
}
