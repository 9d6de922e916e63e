import { LIMITS } from "../../lib/platform/limits.ts";
import { type ResourceMap, ref } from "./intrinsics.ts";

export interface Statement {
  readonly Effect: "Allow";
  readonly Action: readonly string[];
  /** One value or a list. */
  readonly Resource: unknown;
}

/**
 * The longest values that policies are sized for: a stack name of 40 characters, and the longest combination of
 * partition and region. IAM counts the characters of the deployed policy without whitespace.
 */
export const LONGEST: Readonly<Record<string, string>> = {
  StackName: "s".repeat(40),
  EventBusName: "s".repeat(40),
  BlobsBucketName: "b".repeat(63),
  AccessTokenParameter: `/${"t".repeat(62)}`,
  SecretsPath: `/${"s".repeat(62)}`,
  DocumentSecretsPath: `/${"d".repeat(62)}`,
  "AWS::Partition": "aws-us-gov",
  "AWS::Region": "us-isof-south-1",
  "AWS::AccountId": "123456789012",
};
/** Names of queues have at most 80 characters, and so do the log groups of this template. */
const NAME_CHARACTERS = 80;

/** A role for functions, with as many managed policies as the statements need: an inline policy is smaller. */
export function roleWithPolicies(
  id: string,
  services: readonly unknown[],
  statements: readonly Statement[],
): ResourceMap {
  const policies = packStatements(statements).map(
    (Statement, index) =>
      [
        `${id.replace(/Role$/, "")}Policy${index + 1}`,
        {
          Type: "AWS::IAM::ManagedPolicy",
          Properties: { PolicyDocument: { Version: "2012-10-17", Statement } },
        },
      ] as const,
  );
  return {
    [id]: {
      Type: "AWS::IAM::Role",
      Properties: {
        AssumeRolePolicyDocument: {
          Version: "2012-10-17",
          Statement: [
            {
              Effect: "Allow",
              Principal: { Service: services.length === 1 ? services[0] : services },
              Action: "sts:AssumeRole",
            },
          ],
        },
        ManagedPolicyArns: policies.map(([policy]) => ref(policy)),
      },
    },
    ...Object.fromEntries(policies),
  };
}

/** Packs statements into as few policies as possible, in order. Splits a statement that is too large for one. */
function packStatements(statements: readonly Statement[]): Statement[][] {
  const policies: Statement[][] = [];
  for (const statement of statements.flatMap(splitStatement)) {
    const last = policies.at(-1);
    if (last !== undefined && fits([...last, statement])) last.push(statement);
    else policies.push([statement]);
  }
  return policies;
}

function splitStatement(statement: Statement): Statement[] {
  if (fits([statement]) || !Array.isArray(statement.Resource)) return [statement];
  const half = Math.ceil(statement.Resource.length / 2);
  return [statement.Resource.slice(0, half), statement.Resource.slice(half)].flatMap((Resource) =>
    splitStatement({ ...statement, Resource }),
  );
}

function fits(statements: readonly Statement[]): boolean {
  const text = JSON.stringify({ Version: "2012-10-17", Statement: statements }, (_, value: unknown) =>
    longestText(value),
  );
  return text.length <= LIMITS.managedPolicyCharacters.value;
}

/** The longest text that an intrinsic function may resolve to. */
function longestText(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const { "Fn::Sub": text, "Fn::GetAtt": attribute } = value as {
    "Fn::Sub"?: string;
    "Fn::GetAtt"?: unknown;
  };
  if (text !== undefined)
    return text.replace(/\$\{([^}]+)\}/g, (_, name: string) => {
      const value = LONGEST[name];
      if (value === undefined) throw new Error(`unknown length of the parameter ${name} in policies`);
      return value;
    });
  if (attribute === undefined) return value;
  const { "AWS::Partition": partition, "AWS::Region": region, "AWS::AccountId": account } = LONGEST;
  return `arn:${partition}:logs:${region}:${account}:log-group:${"x".repeat(NAME_CHARACTERS)}:*`;
}
