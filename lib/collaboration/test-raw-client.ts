import type WebSocket from "ws";

/** Encodes an unsigned integer as lib0 does. */
export function varUint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  return [...bytes, rest];
}

export function varBytes(bytes: Uint8Array | string): number[] {
  const encoded = Buffer.from(bytes as string);
  return [...varUint(encoded.length), ...encoded];
}

/** A Hocuspocus message of any content. */
export const message = (room: string, type: number, ...rest: readonly number[]): Uint8Array =>
  new Uint8Array([...varBytes(room), type, ...rest]);

export const authMessage = (room: string, token = ""): Uint8Array =>
  message(room, 2, 0, ...varBytes(token), ...varBytes("4.8.0"));

/** An update message, not from Yjs. */
export const updateMessage = (room: string, update: Uint8Array): Uint8Array =>
  new Uint8Array([...varBytes(room), 0, 2, ...varBytes(update)]);

/** An awareness message with the states of clients. */
export function awarenessMessage(room: string, states: ReadonlyMap<number, string>, clock = 1): Uint8Array {
  const clients = [...states].flatMap(([client, json]) => [
    ...varUint(client),
    ...varUint(clock),
    ...varBytes(json),
  ]);
  return message(room, 1, ...varBytes(new Uint8Array([...varUint(states.size), ...clients])));
}

export const opened = (socket: WebSocket): Promise<void> =>
  new Promise((resolve) => socket.once("open", () => resolve()));

/** Resolves with the next message of the server. */
export const received = (socket: WebSocket): Promise<Buffer> =>
  new Promise((resolve) => socket.once("message", (data) => resolve(data as Buffer)));

/** Opens and authenticates a bare socket. */
export async function authenticate(socket: WebSocket, room: string): Promise<void> {
  await opened(socket);
  const authenticated = received(socket);
  socket.send(authMessage(room));
  await authenticated;
}
