import { RELEASES, toText, toVersion, UpgradeRefused } from "./releases.ts";

/** One release to start on the way. */
export interface UpgradeStep {
  /** Any of its fix releases will do. */
  readonly release: string;
  readonly asks: readonly string[];
}

export interface UpgradePlan {
  readonly from: string;
  readonly to: string;
  readonly steps: readonly UpgradeStep[];
}

/**
 * The releases to start one after the other. None is left out but fix releases. Throws UpgradeRefused for a release
 * that there is not and for one that is older. Seed: documents 9.2; reference 7.3.
 */
export function planUpgrade(from: string, to: string): UpgradePlan {
  const [start, end] = [toVersion(from), toVersion(to)];
  if (end.at < start.at || (end.at === start.at && end.fix < start.fix))
    throw new UpgradeRefused(
      `${toText(end)} is older than ${toText(start)}: stored data does not go back, so bring back a copy from before`,
    );
  const steps = RELEASES.slice(start.at + 1, end.at + 1).map(({ name, asks }) => ({
    release: name === end.name ? toText(end) : `${name}.0`,
    asks,
  }));
  if (end.at === start.at && end.fix > start.fix) steps.push({ release: toText(end), asks: [] });
  return { from: toText(start), to: toText(end), steps };
}

/** Throws UpgradeRefused where a release would be skipped, with those to start before. */
export function checkNothingSkipped({ from, to, steps }: UpgradePlan): void {
  const between = steps.slice(0, -1).map(({ release }) => release);
  if (between.length > 0)
    throw new UpgradeRefused(
      `The stored data is of release ${from} and this is ${to}: start these before, each once and in this order: ${between.join(", ")}`,
    );
}
