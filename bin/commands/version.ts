import { readFileSync } from "node:fs";
import { WeftCommand } from "../command.ts";
import { jsonOption } from "../options.ts";
import { printResponse } from "../responses.ts";

const node = process.versions.node;

function readVersion(): string {
  const manifest = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(manifest) as { version: string }).version;
}

export const versionText = (): string => `weft ${readVersion()} (node ${node})`;

export const version = new WeftCommand("version")
  .description("Print the versions of Weft and Node")
  .addOption(jsonOption())
  .example("weft version --json", "for scripts")
  .action((options: { json?: boolean }) =>
    printResponse({ weft: readVersion(), node }, `${versionText()}\n`, options),
  );
