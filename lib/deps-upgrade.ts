import type { Environment } from "./platform/aws/clients.ts";
import { openAws } from "./platform/aws/platform.ts";
import { PlatformFault } from "./platform/faults.ts";
import type { Log } from "./platform/log.ts";
import { PRODUCT_VERSION } from "./platform/product-version.ts";
import { tables } from "./tables.ts";
import { releaseOf } from "./upgrades/releases.ts";
import { upgradeData } from "./upgrades/upgrade.ts";

export interface StackUpgrade {
  readonly stack: string;
  /** Region, credentials, endpoints and the bucket. */
  readonly environment: Environment;
  readonly log: Log;
  /** This version's where it is not given. */
  readonly release?: string;
}

/**
 * Brings the stored data of a stack to this version's release and returns that; nothing of the stack runs here. Throws
 * UpgradeRefused if a release would be skipped, and while another process migrates.
 */
export async function upgradeStack({ stack, environment, log, release }: StackUpgrade): Promise<string> {
  const wanted = release ?? releaseOf(PRODUCT_VERSION);
  const aws = await openAws({
    ...{ stack, environment, log },
    resources: { tables: Object.values(tables), queues: [], rules: [], schedules: [] },
    commands: { run: () => Promise.reject(notHere()) },
    scripts: { run: () => Promise.reject(notHere()) },
  });
  try {
    await upgradeData(aws.ports, { release: wanted, alone: false });
  } finally {
    await aws.close();
  }
  return wanted;
}

const notHere = (): PlatformFault =>
  new PlatformFault("command_not_started", "an upgrade runs neither commands nor scripts");
