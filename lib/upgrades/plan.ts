import { formatVersion, RELEASES, toVersion, UpgradeError } from "./releases.ts";

/** A release to start during an upgrade. */
export interface UpgradeStep {
  /** Any fix release of it. */
  readonly release: string;
  readonly asks: readonly string[];
}

export interface UpgradePlan {
  readonly from: string;
  readonly to: string;
  readonly steps: readonly UpgradeStep[];
}

/**
 * The releases to start in sequence. Only fix releases may be skipped. Throws UpgradeError for an unknown release and
 * for an older one. Seed: documents 9.2; reference 7.3.
 */
export function planUpgrade(from: string, to: string): UpgradePlan {
  const [start, end] = [toVersion(from), toVersion(to)];
  if (end.at < start.at || (end.at === start.at && end.fix < start.fix))
    throw new UpgradeError(
      `${formatVersion(end)} is older than ${formatVersion(start)}: stored data cannot be downgraded, so restore a backup`,
    );
  const steps = RELEASES.slice(start.at + 1, end.at + 1).map(({ name, actions: asks }) => ({
    release: name === end.name ? formatVersion(end) : `${name}.0`,
    asks,
  }));
  if (end.at === start.at && end.fix > start.fix) steps.push({ release: formatVersion(end), asks: [] });
  return { from: formatVersion(start), to: formatVersion(end), steps };
}

/** Throws UpgradeError, with the releases to start first, if a release would be skipped. */
export function checkSkippedReleases({ from, to, steps }: UpgradePlan): void {
  const between = steps.slice(0, -1).map(({ release }) => release);
  if (between.length > 0)
    throw new UpgradeError(
      `The stored data is of release ${from} and this is ${to}: start these releases first, once each, in this order: ${between.join(", ")}`,
    );
}
