import { existsSync } from "node:fs";
import type { TokenRecord, TokenRequest } from "../lib/documents/users/tokens.ts";
import { readServerFile } from "../localstack/server-file.ts";
import { type Arguments, CommandFailure, type Terminal, textFlag } from "./command.ts";
import { type Connection, connect, dataDirOf, withServerFlags } from "./connection.ts";
import { readData } from "./pages.ts";

const PATH = "/api/v1.0/access-tokens";
const HEALTH_MS = 2_000;

export interface CreatedToken {
  readonly token: string;
  readonly data: TokenRecord;
}

/** Access tokens of users, wherever they are kept. Each throws CommandFailure. */
export interface Tokens {
  create(body: TokenRequest): Promise<CreatedToken>;
  list(): Promise<readonly TokenRecord[]>;
  revoke(id: string): Promise<void>;
}

/** Works on those of the server that runs; where none was named and none runs, on those of the data folder itself. */
export async function withTokens<Result>(
  args: Arguments,
  terminal: Terminal,
  work: (tokens: Tokens) => Promise<Result>,
): Promise<Result> {
  const connection = await runningServer(args, terminal);
  if (connection !== undefined) return work(ofServer(connection));
  return inFolder(dataDirOf(terminal.env, textFlag(args, "data-dir")), work);
}

/** Undefined where none was named and none runs, and there is a data folder here. Throws CommandFailure. */
async function runningServer(args: Arguments, terminal: Terminal): Promise<Connection | undefined> {
  const { env } = withServerFlags(args, terminal);
  const folder = dataDirOf(env, textFlag(args, "data-dir"));
  if (env.WEFT_URL || env.WEFT_PLATFORM === "aws" || !existsSync(folder)) return connect(args, terminal);
  // Who answers at the usual port then is the server of another folder.
  if (readServerFile(folder) === undefined) return undefined;
  try {
    const connection = connect(args, terminal);
    await connection.open("GET", "/health", { timeoutMs: HEALTH_MS });
    return connection;
  } catch (error) {
    if (error instanceof CommandFailure) return undefined;
    throw error;
  }
}

const ofServer = (connection: Connection): Tokens => ({
  create: async (body) => (await connection.request("POST", PATH, { body })) as CreatedToken,
  list: () => readData<readonly TokenRecord[]>(connection, PATH),
  revoke: async (id) => {
    await connection.request("DELETE", `${PATH}/${encodeURIComponent(id)}`);
  },
});

async function inFolder<Result>(folder: string, work: (tokens: Tokens) => Promise<Result>): Promise<Result> {
  // Loaded only here: with a server that runs, none of it is needed.
  const [{ openDataFolder }, { ApiError }, users, { UpgradeRefused }] = await Promise.all([
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
    if (error instanceof UpgradeRefused) throw new CommandFailure(`${error.message}.`);
    if ((error as { code?: unknown }).code === "data_folder_in_use")
      throw new CommandFailure(
        (error as Error).message,
        "A server that runs is found with --url, and asked with --token.",
      );
    throw error;
  }
}
