import { type Connection, OutgoingMessage } from "@hocuspocus/server";

/**
 * Tells a client what it may do now: with the message that the provider takes its scope from, and with a stateless one. A
 * client that may write again is asked for what was refused, if anything was: Hocuspocus acknowledges the response, which
 * the client would take for the acknowledgement of a later update.
 */
export function announceRights(
  connection: Connection,
  { reason, asks = false }: { readonly reason?: string; readonly asks?: boolean } = {},
): void {
  const { messageAddress, readOnly, document } = connection;
  connection.send(new OutgoingMessage(messageAddress).writeAuthenticated(readOnly).toUint8Array());
  connection.sendStateless(
    JSON.stringify({ type: "rights", update: !readOnly, ...(reason === undefined ? {} : { reason }) }),
  );
  if (!asks) return;
  connection.send(
    new OutgoingMessage(messageAddress).createSyncMessage().writeFirstSyncStepFor(document).toUint8Array(),
  );
}

/** Acknowledges updates that are stored. */
export function acknowledge(connection: Connection, count: number): void {
  if (count === 0) return;
  const status = new OutgoingMessage(connection.messageAddress).writeSyncStatus(true).toUint8Array();
  for (let sent = 0; sent < count; sent += 1) connection.send(status);
}

/**
 * Tells a client that its content is not this document's: it was open when the content was replaced, and has connected
 * without a ticket. The reason is that of a ticket of an earlier generation.
 */
export function announceOtherContent(connection: Connection, generation: number): void {
  const { messageAddress } = connection;
  connection.send(
    new OutgoingMessage(messageAddress).writePermissionDenied(`generation:${generation}`).toUint8Array(),
  );
}
