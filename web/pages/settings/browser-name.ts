const BROWSERS = [
  ["Edg/", "Edge"],
  ["OPR/", "Opera"],
  ["Firefox/", "Firefox"],
  ["Chrome/", "Chrome"],
  ["Safari/", "Safari"],
] as const;
const SYSTEMS = [
  ["Android", "Android"],
  ["iPhone", "iOS"],
  ["iPad", "iPadOS"],
  ["Windows", "Windows"],
  ["Mac OS X", "macOS"],
  ["Linux", "Linux"],
] as const;
const LENGTH_MAX = 40;

/** A short name of a browser and its system, by what the browser says of itself. */
export function browserName(userAgent: string): string {
  const nameIn = (names: readonly (readonly [string, string])[]): string | undefined =>
    names.find(([part]) => userAgent.includes(part))?.[1];
  const browser = nameIn(BROWSERS);
  const system = nameIn(SYSTEMS);
  if (browser === undefined) return userAgent === "" ? "?" : userAgent.slice(0, LENGTH_MAX);
  return system === undefined ? browser : `${browser}, ${system}`;
}
