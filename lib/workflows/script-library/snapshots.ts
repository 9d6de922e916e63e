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
      "Stores a snapshot of the files and records of a workspace (by default the run's); returns its name, or the path of the zip file if dest is set; empty if it fails",
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
      "Restores a workspace from a zip file or a stored snapshot, replacing its files; returns its name, empty if it fails; not the run's own workspace",
    example: 'snapshot_import("acme.zip")',
    failure: "",
    run: ([source], context: FunctionContext) => {
      const file = pathOf(source, context);
      if (lstatSync(file, { throwIfNoEntry: false })?.isFile() === true)
        return context.ask("snapshot", { of: "import", file });
      const name = textOf(source);
      if (basename(name) !== name) throw new Error(`${name} is not a file`);
      return context.ask("snapshot", { of: "import", name });
    },
  },
} satisfies Record<string, LibraryFunction>;
