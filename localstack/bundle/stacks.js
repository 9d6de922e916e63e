import { readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { fileURLToPath } from "node:url";

/**
 * Has the stacks of errors name the sources of what lies in a bundle's folder, by line and column. A map is read with
 * the first stack that needs it: Node's own support reads all of them at the start.
 */
export function nameSourcesIn(folder) {
  const maps = new Map();
  const mapOf = (url) => {
    if (!maps.has(url)) maps.set(url, readMap(url));
    return maps.get(url);
  };
  Error.prepareStackTrace = (error, frames) =>
    [headOf(error), ...frames.map((frame) => `    at ${sourceOf(String(frame), folder, mapOf)}`)].join("\n");
}

function headOf(error) {
  try {
    return String(error);
  } catch {
    return "Error";
  }
}

function sourceOf(frame, folder, mapOf) {
  return frame.replace(/(file:\/\/\S+\.mjs):(\d+):(\d+)/, (place, url, line, column) => {
    if (!url.startsWith(folder)) return place;
    const entry = mapOf(url)?.findEntry(Number(line) - 1, Number(column) - 1);
    return entry?.originalSource === undefined
      ? place
      : `${new URL(entry.originalSource, url)}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
  });
}

function readMap(url) {
  try {
    return new SourceMap(JSON.parse(readFileSync(fileURLToPath(`${url}.map`), "utf8")));
  } catch {
    return undefined;
  }
}
