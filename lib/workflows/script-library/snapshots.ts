/** Functions that export and import workspaces. Reference 3, snapshot. */
import { lstatSync } from "node:fs";
import { basename } from "node:path";
import { textOf } from "./argument-values.ts";
import { pathOf } from "./file-access.ts";
import type { FunctionContext, LibraryFunction } from "./library-types.ts";

const group = "snapshot";

export const snapshotFunctions = {
  snapshot_export: {
    group,
    params: ["workspace", "dest?"],
    returns: "string",
    summary:
      "Packs a workspace (the run's own where it is empty), its files and records, and keeps that; gives its name, or the path of the zip file where dest names one; empty when it fails",
    example: 'snapshot_export("acme", "acme.zip")',
    failure: "",
    run: ([workspace, dest], context: FunctionContext) => {
      const to = textOf(dest) === "" ? {} : { dest: pathOf(dest, context) };
      return context.ask("snapshot", { of: "export", workspace: textOf(workspace), ...to });
    },
  },
  snapshot_import: {
    group,
    params: ["source"],
    returns: "string",
    summary:
      "Brings a workspace back from a zip file, or from the name of a snapshot that was made here, in place of the files that it has now; gives its name, empty when it fails; never the run's own",
    example: 'snapshot_import("acme.zip")',
    failure: "",
    run: ([source], context: FunctionContext) => {
      const file = pathOf(source, context);
      if (lstatSync(file, { throwIfNoEntry: false })?.isFile() === true)
        return context.ask("snapshot", { of: "import", file });
      const name = textOf(source);
      if (basename(name) !== name) throw new Error(`${name} is no file`);
      return context.ask("snapshot", { of: "import", name });
    },
  },
} satisfies Record<string, LibraryFunction>;
