import { afterAll, beforeAll, describe } from "vitest";
import { blobsContract, type SendUpload, sendByFetch } from "./blobs-contract.ts";
import { claimsContract } from "./claims-contract.ts";
import { fullTextContract } from "./full-text-contract.ts";
import { messagesContract } from "./messages-contract.ts";
import { queuesContract } from "./queues-contract.ts";
import type { ContractPlatform, Differences } from "./resources.ts";
import { tablesContract } from "./tables-contract.ts";

/**
 * The behaviour of every platform as tests; the platform must have CONTRACT_RESOURCES. Tests share the platform, use
 * distinct keys and leave the queues empty.
 */
export function contractSuite(
  name: string,
  open: () => Promise<ContractPlatform>,
  differences: Differences = {},
): void {
  describe(`${name} satisfies the platform contract`, () => {
    let platform: ContractPlatform | undefined;
    const subject = (): ContractPlatform["ports"] => {
      if (platform === undefined) throw new Error("the platform is not open");
      return platform.ports;
    };
    beforeAll(async () => {
      platform = await open();
    });
    afterAll(async () => {
      await platform?.close();
    });
    tablesContract(subject);
    queuesContract(subject, differences);
    messagesContract(subject, differences);
    const send: SendUpload = (upload, bytes) => (platform?.sendUpload ?? sendByFetch)(upload, bytes);
    blobsContract(subject, send);
    claimsContract(subject);
    fullTextContract(subject);
  });
}
