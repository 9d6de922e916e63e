import { existsSync } from "node:fs";
import { dataOf } from "../client/api.ts";
import type { TokenRecord, TokenRequest } from "../lib/documents/users/tokens.ts";
import { readServerFile } from "../localstack/server-file.ts";
import {
  type Connection,
  connect,
  connectIfRunning,
  resolveDataDir,
  serverEnvironment,
} from "./connection.ts";
import { CommandFailure } from "./errors.ts";
import { givenFields, type ServerOptions } from "./options.ts";
import { readData } from "./responses.ts";

export interface CreatedToken {
  readonly token: string;
  readonly data: TokenRecord;
}

/** Users' access tokens. The methods throw CommandFailure. */
export interface UserTokens {
  create(body: TokenRequest): Promise<CreatedToken>;
  list(): Promise<readonly TokenRecord[]>;
  revoke(id: string): Promise<void>;
}

/**
 * Calls `work` with the tokens of the server. Without a server in the options or the environment, and with none
 * running on the data folder, opens the data folder itself.
 */
export async function withUserTokens<Result>(
  options: ServerOptions,
  work: (tokens: UserTokens) => Promise<Result>,
): Promise<Result> {
  const connection = await findConnection(options);
  if (connection !== undefined) return work(tokensOfServer(connection));
  return withTokensOfFolder(resolveDataDir(serverEnvironment(options), options.dataDir), work);
}

/** Returns undefined if the data folder exists and no server is running on it. */
async function findConnection(options: ServerOptions): Promise<Connection | undefined> {
  const env = serverEnvironment(options);
  const folder = resolveDataDir(env, options.dataDir);
  if (env.WEFT_URL || env.WEFT_PLATFORM === "aws" || !existsSync(folder)) return connect(options);
  // A server at the default port then has another data folder.
  if (readServerFile(folder) === undefined) return undefined;
  return connectIfRunning(options);
}

const tokensOfServer = ({ api }: Connection): UserTokens => ({
  create: (body) => dataOf(api.POST("/api/v1.0/access-tokens", { body: givenFields(body) })),
  list: () => readData(api.GET("/api/v1.0/access-tokens")),
  revoke: async (id) => {
    await api.DELETE("/api/v1.0/access-tokens/{id}", { params: { path: { id } } });
  },
});

async function withTokensOfFolder<Result>(
  folder: string,
  work: (tokens: UserTokens) => Promise<Result>,
): Promise<Result> {
  // Imported here because only commands without a server need it.
  const [{ openDataFolder }, { ApiError }, users, { UpgradeError }] = await Promise.all([
    import("../lib/app/cli.ts"),
    import("../lib/errors.ts"),
    import("../lib/documents/users/tokens.ts"),
    import("../lib/upgrades/releases.ts"),
  ]);
  try {
    const opened = await openDataFolder(folder);
    try {
      return await work({
        create: async (body) => {
          const { token, record } = await users.createToken(opened.deps, body);
          return { token, data: record };
        },
        list: () => users.listTokens(opened.deps),
        revoke: (id) => users.revokeToken(opened.deps, id),
      });
    } finally {
      await opened.close();
    }
  } catch (error) {
    if (error instanceof ApiError) throw new CommandFailure(error.message);
    if (error instanceof UpgradeError) throw new CommandFailure(`${error.message}.`);
    if ((error as { code?: unknown }).code === "data_folder_in_use")
      throw new CommandFailure(
        (error as Error).message,
        "If a server is using it, name the server with --url and --token.",
      );
    throw error;
  }
}
