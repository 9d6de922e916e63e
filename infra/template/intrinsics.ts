/** A resource of the template, as it is written. */
export interface Resource {
  readonly Type: string;
  readonly Metadata?: Readonly<Record<string, unknown>>;
  readonly DeletionPolicy?: "Retain";
  readonly UpdateReplacePolicy?: "Retain";
  readonly Properties?: Readonly<Record<string, unknown>>;
}

/** Logical id -> resource. */
export type ResourceMap = Readonly<Record<string, Resource>>;

export function ref(logicalId: string): { readonly Ref: string } {
  return { Ref: logicalId };
}

export function sub(text: string): { readonly "Fn::Sub": string } {
  return { "Fn::Sub": text };
}

export function arnOf(logicalId: string): { readonly "Fn::GetAtt": readonly [string, "Arn"] } {
  return { "Fn::GetAtt": [logicalId, "Arn"] };
}

/** A name that no other stack of the account has. */
export function stackName(name: string): { readonly "Fn::Sub": string } {
  return sub(`\${AWS::StackName}-${name}`);
}
