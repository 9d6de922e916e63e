// Plain JavaScript: it decides whether the type stripper has to be loaded at all.
import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** Moves when a manifest says other things. */
const FORM = 1;
const MANIFEST = "manifest.json";
/** Nobody makes or removes a bundle for so long, milliseconds. */
const DRAFT_MAX_MS = 600_000;
const USER = /^used-by-(\d+)$/;

/** Where the bundles of a checkout are. */
export function cacheOf(root) {
  return join(root, "node_modules", ".cache", "weft-server");
}

/**
 * The bundle of the sources as they are now, or undefined. What counts is size and times of every file that it was
 * made of; where times alone differ, as in a copy, what the file holds.
 */
export function findBundle(root, cache) {
  for (const folder of bundlesIn(cache)) if (isFresh(root, folder)) return folder;
  return undefined;
}

/** Absolute paths, newest first. */
export function bundlesIn(cache) {
  try {
    const names = readdirSync(cache).filter((name) => !name.startsWith("."));
    return names
      .sort()
      .reverse()
      .map((name) => join(cache, name));
  } catch {
    return [];
  }
}

/** A file that a bundle was made of, as it is now. Throws where it cannot be read. */
export function stampOf(root, path) {
  const { size, mtimeMs, ctimeMs } = statSync(join(root, path));
  return { path, size, mtimeMs, ctimeMs, hash: hashOf(join(root, path)) };
}

/** Writes what a finished bundle in `folder` was made of; `inputs` are stamps of before it was made. */
export function writeManifest(folder, root, inputs) {
  const names = readdirSync(folder).filter((name) => name.endsWith(".mjs"));
  const outputs = names.map((name) => [name, statSync(join(folder, name)).size]);
  writeFileSync(join(folder, MANIFEST), JSON.stringify({ form: FORM, root, outputs, inputs }));
}

function isFresh(root, folder) {
  try {
    const manifest = JSON.parse(readFileSync(join(folder, MANIFEST), "utf8"));
    if (manifest.form !== FORM || manifest.root !== root) return false;
    for (const [name, size] of manifest.outputs)
      if (statSync(`${folder}/${name}`).size !== size) return false;
    const touched = manifest.inputs.filter((stamp) => !isUntouched(root, stamp));
    if (touched.length === 0) return true;
    const now = touched.map(({ path }) => stampOf(root, path));
    if (now.some(({ hash }, index) => hash !== touched[index].hash)) return false;
    restamp(folder, manifest, now);
    return true;
  } catch {
    return false;
  }
}

function isUntouched(root, { path, size, mtimeMs, ctimeMs }) {
  const now = statSync(`${root}/${path}`);
  return now.mtimeMs === mtimeMs && now.ctimeMs === ctimeMs && now.size === size;
}

/** So that the next start need not read the files again. */
function restamp(folder, manifest, now) {
  const stamps = new Map(now.map((stamp) => [stamp.path, stamp]));
  const inputs = manifest.inputs.map((stamp) => stamps.get(stamp.path) ?? stamp);
  const draft = join(folder, `${MANIFEST}.${process.pid}`);
  try {
    writeFileSync(draft, JSON.stringify({ ...manifest, inputs }));
    renameSync(draft, join(folder, MANIFEST));
  } catch {
    // A folder that cannot be written costs the reading each time.
  }
}

function hashOf(path) {
  // Loaded only here: most starts need none.
  return process.getBuiltinModule("node:crypto").hash("sha256", readFileSync(path));
}

/** As far as it can be removed. It is gone at once for who loads from it only now. */
export function removeBundle(folder) {
  const hidden = join(dirname(folder), `.${basename(folder)}`);
  try {
    renameSync(folder, hidden);
    rmSync(hidden, { recursive: true, force: true });
  } catch {
    // A bundle that nobody can remove is only passed over.
  }
}

/** What was begun and never finished, because a process was killed over it. */
export function removeDrafts(cache) {
  for (const name of readdirSync(cache).filter((name) => name.startsWith("."))) {
    const path = join(cache, name);
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat !== undefined && Date.now() - stat.mtimeMs > DRAFT_MAX_MS)
      rmSync(path, { recursive: true, force: true });
  }
}

/** Says until this process ends that it loads from the folder, so that nobody removes it. */
export function useBundle(folder) {
  const mark = join(folder, `used-by-${process.pid}`);
  try {
    writeFileSync(mark, "");
    process.once("exit", () => rmSync(mark, { force: true }));
  } catch {
    // Nobody can remove from a folder that nobody can write.
  }
}

/** Whether a process that lives said so. */
export function isInUse(folder) {
  return readdirSync(folder).some((name) => {
    const pid = USER.exec(name)?.[1];
    return pid !== undefined && isAlive(Number(pid));
  });
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}
