import { parse } from "yaml";
import { listOf, type Part, partOf, toReference } from "../provision/intrinsics.ts";
import { ACCOUNT_AND_REGION, type Permission } from "./permissions.ts";

/** The actor of the functions that a worker runs instead of Lambda. */
export const WORKER = "Worker";

/** A function of a stack as its template deploys it. */
export interface DeployedFunction {
  readonly logicalId: string;
  /** The actor that uses its role: the function itself, or `weft worker`. */
  readonly actor: string;
  /** Logical id of its role. */
  readonly role: string;
  /** ARNs of the queues that Lambda polls for it. */
  readonly queues: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

export interface DeployedRoles {
  readonly functions: readonly DeployedFunction[];
  /** By the role's logical id; `*` in a resource matches any text. */
  readonly granted: ReadonlyMap<string, readonly Permission[]>;
  /** ARN of the log streams of all functions. */
  readonly logs: string;
}

/**
 * The functions and roles of a nested stack's template, with intrinsic functions resolved for the given parameter
 * values. Throws if a value cannot be resolved, or a statement is not a list of allowed actions.
 */
export function readRoles(template: string, parameters: Readonly<Record<string, string>>): DeployedRoles {
  const { Globals, Resources } = partOf(parse(template));
  const resources = partOf(Resources);
  const ofType = (type: string) =>
    Object.entries(resources).flatMap(([id, resource]) => {
      const { Type, Properties } = partOf(resource);
      return Type === type ? [[id, partOf(Properties)] as const] : [];
    });
  const isWorkers = (id: string): boolean =>
    partOf(partOf(partOf(resources[id]).Metadata).Weft).Worker === true;
  const value = (given: unknown): string => resolveValue(resources, parameters, given);
  const variables = (owner: unknown): Record<string, string> => {
    const { Variables } = partOf(partOf(owner).Environment);
    return Object.fromEntries(Object.entries(partOf(Variables)).map(([name, one]) => [name, value(one)]));
  };
  const common = variables(partOf(Globals).Function);
  // There may be other roles, such as the one that API Gateway writes logs with.
  const log = toReference(partOf(partOf(partOf(Globals).Function).LoggingConfig).LogGroup).id;
  return {
    functions: ofType("AWS::Serverless::Function").map(([logicalId, properties]) => ({
      logicalId,
      actor: isWorkers(logicalId) ? WORKER : logicalId,
      role: toReference(properties.Role).id,
      queues: Object.values(partOf(properties.Events)).flatMap((event) => {
        const { Type, Properties } = partOf(event);
        return Type === "SQS" ? [value(partOf(Properties).Queue)] : [];
      }),
      environment: { ...common, ...variables(properties) },
    })),
    granted: new Map(
      ofType("AWS::IAM::Role").map(([id, properties]) => [
        id,
        policiesOf(resources, properties).flatMap((document) => grantsOf(id, document, value)),
      ]),
    ),
    logs: value({ "Fn::GetAtt": [log, "Arn"] }),
  };
}

/** The documents of a role's managed policies, except AWS managed ones, which the template refers to by ARN. */
function policiesOf(resources: Part, { ManagedPolicyArns }: Part): Part[] {
  const own = listOf(ManagedPolicyArns).filter((policy) => partOf(policy)["Fn::Sub"] === undefined);
  return own.map((policy) => {
    const { Properties } = partOf(resources[toReference(policy).id]);
    return partOf(partOf(Properties).PolicyDocument);
  });
}

/** The size in characters of each managed policy of each role as deployed, with the given parameter values. */
export function policySizes(
  template: string,
  parameters: Readonly<Record<string, string>>,
): ReadonlyMap<string, readonly number[]> {
  const resources = partOf(partOf(parse(template)).Resources);
  const roles = Object.entries(resources).filter(([, role]) => partOf(role).Type === "AWS::IAM::Role");
  return new Map(
    roles.map(([id, role]) => [
      id,
      policiesOf(resources, partOf(partOf(role).Properties)).map(
        (document) =>
          JSON.stringify(document, (_, value: unknown) => {
            const { "Fn::Sub": text, "Fn::GetAtt": attribute } = partOf(value);
            return text === undefined && attribute === undefined
              ? value
              : resolveValue(resources, parameters, value);
          }).length,
      ),
    ]),
  );
}

function grantsOf(role: string, { Statement }: Part, value: (given: unknown) => string): Permission[] {
  return listOf(Statement).flatMap((statement) => {
    const { Effect, Action, Resource, ...others } = partOf(statement);
    if (Effect !== "Allow" || Object.keys(others).length > 0)
      throw new Error(`${role}: unsupported statement: ${JSON.stringify(statement)}`);
    const resources = Array.isArray(Resource) ? listOf(Resource) : [Resource];
    return listOf(Action).flatMap((action) =>
      resources.map((resource) => ({ action: String(action), resource: value(resource) })),
    );
  });
}

const PSEUDO: Readonly<Record<string, string>> = {
  "AWS::Partition": ACCOUNT_AND_REGION.partition,
  "AWS::Region": ACCOUNT_AND_REGION.region,
  "AWS::AccountId": ACCOUNT_AND_REGION.account,
};

function resolveValue(resources: Part, parameters: Readonly<Record<string, string>>, given: unknown): string {
  if (typeof given === "string") return given;
  const resolveName = (name: string): string => {
    const found = parameters[name] ?? PSEUDO[name];
    if (found === undefined) throw new Error(`no value for ${name}`);
    return found;
  };
  const { "Fn::Sub": pattern, Ref: ref } = partOf(given);
  if (typeof pattern === "string")
    return pattern.replace(/\$\{([^}]+)\}/g, (_, name: string) => resolveName(name));
  if (typeof ref === "string") return resolveName(ref);
  const { id, attribute } = toReference(given);
  const { Type, Properties } = partOf(resources[id]);
  const { QueueName, LogGroupName } = partOf(Properties);
  const name = (text: unknown): string => resolveValue(resources, parameters, text);
  const arn = (service: string, resource: string): string =>
    name({ "Fn::Sub": `arn:\${AWS::Partition}:${service}:\${AWS::Region}:\${AWS::AccountId}:${resource}` });
  if (attribute === "Arn" && Type === "AWS::SQS::Queue") return arn("sqs", name(QueueName));
  if (attribute === "Arn" && Type === "AWS::Logs::LogGroup")
    return arn("logs", `log-group:${name(LogGroupName)}:*`);
  throw new Error(`cannot resolve ${JSON.stringify(given)}`);
}
