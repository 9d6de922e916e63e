import { type Compose, openAwsDeps, required } from "./deps-aws.ts";
import { type Authenticator, hashToken, ownerAuthenticator } from "./http/auth.ts";
import type { Environment } from "./platform/aws/clients.ts";
import { parameterStore, readParameter } from "./platform/aws/parameters.ts";
import { type StoredSecrets, storedSecrets } from "./platform/aws/secrets.ts";
import { withStoredSettings } from "./platform/aws/stored-settings.ts";
import { systemClock } from "./platform/clock.ts";
import { openedOnce } from "./platform/opened-once.ts";
import { readConfig } from "./settings/config.ts";
import { STORED_SETTINGS } from "./settings/document-settings.ts";
import { llmKeys } from "./settings/llm.ts";

/** The services over AWS with the owner's token and the secrets of workflows, which are in the parameter store. */
export async function openStoredAwsDeps<Composed>(
  given: Environment,
  compose: Compose<Composed>,
): Promise<Composed> {
  const client = parameterStore(given);
  const environment = await withStoredSettings(client, given, STORED_SETTINGS);
  const path = environment.WEFT_SECRETS_PATH || undefined;
  const secrets = storedSecrets({ client, path, clock: systemClock });
  const config = readConfig(environment);
  for (const key of [...llmKeys(config.llm), ...config.documents.secrets]) secrets.alsoRedact(key);
  return openAwsDeps(environment, compose, { secrets, auth: ownerAuth(environment, client, secrets) });
}

/** Knows the owner's token, which is read when the first request brings one: consumers never need it. */
function ownerAuth(
  environment: Environment,
  client: ReturnType<typeof parameterStore>,
  secrets: Pick<StoredSecrets, "alsoRedact">,
): Authenticator {
  const read = openedOnce(async () => {
    const token =
      environment.WEFT_ACCESS_TOKEN ||
      (await readParameter(client, required(environment, "WEFT_ACCESS_TOKEN_PARAMETER")));
    secrets.alsoRedact(token.trim());
    return ownerAuthenticator(hashToken(token.trim()));
  });
  return {
    authenticate: async (token) => (await read()).authenticate(token),
    isValid: async (credentialId) => (await read()).isValid(credentialId),
  };
}
