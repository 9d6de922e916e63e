import type { Client } from "./test-tour-client.ts";

const BASE = "/api/v1.0";

interface Made {
  readonly id: string;
}

/** Documents, through all that may be done with them, by their owner and by others. */
export async function useDocuments(client: Client): Promise<void> {
  const { send } = client;
  await send("GET", `${BASE}/users/me`);
  const { data, token } = await send<{ data: Made; token: string }>("POST", `${BASE}/access-tokens`, {
    email: "tour@example.org",
  });
  // Somebody else, in both services.
  const other = client.as(token);
  await other.send("GET", `${BASE}/users/me`);
  await other.send("GET", "/automation/event-logs");
  await send("GET", `${BASE}/access-tokens`);
  await client.remove(`${BASE}/access-tokens/${data.id}`);
  const root = await send<Made>("POST", `${BASE}/documents`, { title: "Tour" });
  const path = `${BASE}/documents/${root.id}`;
  const child = await send<Made>("POST", `${path}/children`, { title: "Child" });
  // While it lies deeper, what it lies in is to stay.
  for (const title of ["One below", "Another"])
    await send("POST", `${BASE}/documents/${child.id}/children`, { title });
  await send("GET", path);
  await send("GET", `${path}/children`);
  await send("PUT", path, { title: "Renamed" });
  await send("PATCH", path, { excerpt: "short" });
  await client.remove(`${BASE}/documents/${child.id}`);
  await send("POST", `${BASE}/documents/${child.id}/restore`);
}
