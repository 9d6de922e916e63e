import { UPLOADS_DAYS, UPLOADS_PREFIX } from "../../lib/platform/blobs.ts";
import { CLAIMS_DAYS, CLAIMS_PREFIX } from "../../lib/platform/claims.ts";
import { CONVERSIONS_DAYS, CONVERSIONS_PREFIX } from "../../lib/platform/conversions.ts";
import type { TableSpec } from "../../lib/platform/tables.ts";
import { byCodeUnits, toPascalCase } from "../names.ts";
import { type ResourceMap, stackName } from "./intrinsics.ts";

export const BLOBS_ID = "BlobsBucket";

/** A file that was not sent to its end is given up after so long, days. */
const UPLOAD_DAYS = 7;

/**
 * Data outlives the stack. What a failed creation has made goes with it: tables have names of their own, and those
 * that stayed would be in the way of the next attempt.
 */
const KEPT = { DeletionPolicy: "RetainExceptOnCreate", UpdateReplacePolicy: "Retain" } as const;
/** Versions that were replaced or deleted stay as long as the tables can be restored to any second, days. */
const VERSIONS_DAYS = 35;
/** Versions of what is temporary stay for this long. */
const TEMPORARY_VERSIONS_DAYS = 1;

/** The logical id of a table. */
export const tableId = (table: TableSpec): string => `${toPascalCase(table.name)}Table`;

export function tableResources(table: TableSpec): ResourceMap {
  const indexes = Object.entries(table.indexes).sort(([left], [right]) => byCodeUnits(left, right));
  const attributes = new Set(["pk", "sk", ...indexes.flatMap(([, index]) => [index.pk, index.sk])]);
  return {
    [tableId(table)]: {
      Type: "AWS::DynamoDB::Table",
      ...KEPT,
      Properties: {
        TableName: stackName(table.name),
        BillingMode: "PAY_PER_REQUEST",
        AttributeDefinitions: [...attributes].map((name) => ({ AttributeName: name, AttributeType: "S" })),
        KeySchema: keySchema("pk", "sk"),
        ...(indexes.length === 0
          ? {}
          : {
              GlobalSecondaryIndexes: indexes.map(([name, index]) => ({
                IndexName: name,
                KeySchema: keySchema(index.pk, index.sk),
                Projection: { ProjectionType: "ALL" },
              })),
            }),
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        SSESpecification: { SSEEnabled: true },
      },
    },
  };
}

function keySchema(pk: string, sk: string): readonly Record<string, string>[] {
  return [
    { AttributeName: pk, KeyType: "HASH" },
    { AttributeName: sk, KeyType: "RANGE" },
  ];
}

/** The bucket for blobs. CloudFormation names it: bucket names are shared by the whole world. */
export function bucketResources(): ResourceMap {
  return {
    [BLOBS_ID]: {
      Type: "AWS::S3::Bucket",
      ...KEPT,
      Properties: {
        BucketEncryption: {
          ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: "AES256" } }],
        },
        PublicAccessBlockConfiguration: {
          BlockPublicAcls: true,
          BlockPublicPolicy: true,
          IgnorePublicAcls: true,
          RestrictPublicBuckets: true,
        },
        VersioningConfiguration: { Status: "Enabled" },
        LifecycleConfiguration: {
          Rules: [
            // Who came first no longer matters once no queue holds the message that they came for.
            temporary("claims", CLAIMS_PREFIX, CLAIMS_DAYS),
            // Contents that were sent, and never made a document's.
            temporary("sent", UPLOADS_PREFIX, UPLOADS_DAYS),
            temporary("conversions", CONVERSIONS_PREFIX, CONVERSIONS_DAYS),
            {
              Id: "uploads",
              Status: "Enabled",
              AbortIncompleteMultipartUpload: { DaysAfterInitiation: UPLOAD_DAYS },
            },
            {
              Id: "versions",
              Status: "Enabled",
              NoncurrentVersionExpiration: { NoncurrentDays: VERSIONS_DAYS },
              ExpiredObjectDeleteMarker: true,
            },
          ],
        },
      },
    },
  };
}

function temporary(Id: string, Prefix: string, ExpirationInDays: number): Record<string, unknown> {
  return {
    ...{ Id, Status: "Enabled", Prefix, ExpirationInDays },
    NoncurrentVersionExpiration: { NoncurrentDays: TEMPORARY_VERSIONS_DAYS },
  };
}
