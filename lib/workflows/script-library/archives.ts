import { mkdirSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { Budget, memberPath } from "./archive-limits.ts";
import { textOf } from "./argument-values.ts";
import { entryOf, outputOf, pathOf } from "./file-access.ts";
import type { FunctionContext, LibraryFunction } from "./library-types.ts";
import { runCommand } from "./programs.ts";

const ZIP = /\.zip$/i;
const TAR = /\.(?:tar|tar\.gz|tgz|tar\.bz2|tbz2?|tar\.xz|txz)$/i;
/** A line of `tar -tv`: mode, owner, size, date, time, name. */
const LISTED = /^([^\s])\S*\s+\S+\s+(\d+)\s+\S+\s+\S+\s(.*)$/;

function zipTo(source: unknown, dest: unknown, context: FunctionContext): true {
  context.await("zip", { source: pathOf(source, context), dest: outputOf(dest, context) });
  return true;
}

function unzipTo(source: unknown, dest: unknown, context: FunctionContext, empty = false): true {
  context.await("unzip", { source: pathOf(source, context), dest: destOf(source, dest, context), empty });
  return true;
}

/** The given folder; by default the folder of the archive. */
function destOf(source: unknown, dest: unknown, context: FunctionContext): string {
  return textOf(dest) === "" ? dirname(pathOf(source, context)) : outputOf(dest, context);
}

function tarTo(source: unknown, dest: unknown, context: FunctionContext): true {
  const from = pathOf(source, context);
  const folder = statSync(from).isDirectory();
  const values = {
    FROM: folder ? from : dirname(from),
    NAME: folder ? "." : basename(from),
    TO: outputOf(dest, context),
  };
  // The archive is written elsewhere first, so that it does not include itself.
  const command =
    'part="$(mktemp)" && LC_ALL=C tar -czf "$part" -C "$FROM" -- "./$NAME" && mv -f -- "$part" "$TO" || { rm -f -- "$part"; exit 1; }';
  runCommand(command, values, context);
  return true;
}

/**
 * Checks all members before unpacking. Throws for a member that is not a file or folder, leads out of the folder or
 * exceeds a limit.
 */
function untarTo(source: unknown, dest: unknown, context: FunctionContext): true {
  const from = pathOf(source, context);
  const listing = runCommand('LC_ALL=C tar --quoting-style=escape -tvf "$FROM"', { FROM: from }, context);
  const budget = new Budget();
  for (const line of listing.split("\n")) {
    if (line === "") continue;
    const [, kind, size, name = ""] = LISTED.exec(line) ?? [];
    if (kind !== "-" && kind !== "d")
      throw new Error("the archive has members that are neither files nor folders");
    memberPath(name.replaceAll(/\\./g, "_"));
    budget.entry(Number(size));
  }
  const to = destOf(source, dest, context);
  mkdirSync(to, { recursive: true });
  const command = 'LC_ALL=C tar -xf "$FROM" -C "$TO" --no-same-owner --no-same-permissions --unlink-first';
  runCommand(command, { FROM: from, TO: to }, context);
  return true;
}

export const archiveFunctions = {
  zip_dir: {
    group: "archive",
    params: ["source", "dest"],
    returns: "boolean",
    summary: "Packs a file or the contents of a folder into a zip file, without links",
    failure: false,
    run: ([source, dest], context: FunctionContext) => zipTo(source, dest, context),
  },
  unzip_dir: {
    group: "archive",
    params: ["source", "dest"],
    returns: "boolean",
    summary:
      "Unpacks a zip file into a folder, within limits; members outside of the folder and links are errors",
    failure: false,
    run: ([source, dest], context: FunctionContext) => unzipTo(source, dest, context),
  },
  extract_to: {
    group: "archive",
    params: ["source", "dest"],
    returns: "boolean",
    summary: "Unpacks a zip or tar file (also .gz, .bz2, .xz) into a folder that is emptied first",
    failure: false,
    run: ([source, dest], context: FunctionContext) => {
      const from = pathOf(source, context);
      if (!ZIP.test(from) && !TAR.test(from))
        throw new Error("the name of an archive must end with .zip, .tar, .tar.gz, .tar.bz2 or .tar.xz");
      if (!statSync(from).isFile()) throw new Error("the archive is not a file");
      const folder = entryOf(dest, context);
      if (join(from, "/").startsWith(join(folder, "/"))) throw new Error("the archive is in the folder");
      if (ZIP.test(from)) return unzipTo(source, dest, context, true);
      rmSync(folder, { recursive: true, force: true });
      return untarTo(source, dest, context);
    },
  },
  zip_unix: {
    group: "unix_commands",
    params: ["source", "dest"],
    returns: "boolean",
    summary: "Same as zip_dir",
    failure: false,
    run: ([source, dest], context: FunctionContext) => zipTo(source, dest, context),
  },
  unzip_unix: {
    group: "unix_commands",
    params: ["source", "dest?"],
    returns: "boolean",
    summary: "Same as unzip_dir; default folder: that of the archive",
    failure: false,
    run: ([source, dest], context: FunctionContext) => unzipTo(source, dest, context),
  },
  tar_unix: {
    group: "unix_commands",
    params: ["source", "dest"],
    returns: "boolean",
    summary: "Packs a file or the contents of a folder into a .tar.gz file",
    failure: false,
    run: ([source, dest], context: FunctionContext) => tarTo(source, dest, context),
  },
  untar_unix: {
    group: "unix_commands",
    params: ["source", "dest?"],
    returns: "boolean",
    summary:
      "Unpacks a tar file, compressed or not, within limits; links and paths that lead outside are errors",
    failure: false,
    run: ([source, dest], context: FunctionContext) => untarTo(source, dest, context),
  },
} satisfies Record<string, LibraryFunction>;
