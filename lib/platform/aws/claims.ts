import { randomUUID } from "node:crypto";
import { CLAIMS_PREFIX, type Claims } from "../claims.ts";
import { toFault, withFaults } from "./faults.ts";
import type { S3 } from "./services.ts";

/** One empty object per claimed name, created with the condition that the key does not exist. */
export function awsClaims({ s3, bucket: Bucket }: { readonly s3: S3; readonly bucket: string }): Claims {
  return {
    take: async (name) => {
      const Key = `${CLAIMS_PREFIX}${name}`;
      const id = randomUUID();
      const { client, GetObjectCommand, PutObjectCommand } = await s3();
      try {
        await client.send(new PutObjectCommand({ Bucket, Key, Body: id, IfNoneMatch: "*" }));
        return true;
      } catch (error) {
        if (!(error instanceof Error) || error.name !== "PreconditionFailed") throw toFault(error);
      }
      // A retried request finds the object that its first attempt created.
      const { Body } = await withFaults(() => client.send(new GetObjectCommand({ Bucket, Key })));
      return (await Body?.transformToString()) === id;
    },
    isTaken: async (name) => {
      const { client, HeadObjectCommand } = await s3();
      try {
        await client.send(new HeadObjectCommand({ Bucket, Key: `${CLAIMS_PREFIX}${name}` }));
        return true;
      } catch (error) {
        if (error instanceof Error && (error.name === "NotFound" || error.name === "NoSuchKey")) return false;
        throw toFault(error);
      }
    },
  };
}
