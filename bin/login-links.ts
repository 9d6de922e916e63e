import { dataOf } from "../client/api.ts";
import type { LoginLinkRecord, LoginLinkRequest } from "../lib/documents/login/login-links.ts";
import { connect } from "./connection.ts";
import { givenFields, type ServerOptions } from "./options.ts";
import { unexpectedResponse } from "./responses.ts";

/** Has the server create a one-time login link. Throws CommandFailure. */
export async function createLoginLink(
  options: ServerOptions,
  body: LoginLinkRequest,
): Promise<LoginLinkRecord> {
  const link = await dataOf(connect(options).api.POST("/api/v1.0/login-links", { body: givenFields(body) }));
  // The address is passed to another program.
  if (!/^https?:$/.test(URL.parse(link?.url ?? "")?.protocol ?? "")) throw unexpectedResponse("a login link");
  return link;
}
