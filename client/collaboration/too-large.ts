/** An update is too large, or makes the document too large. To send it again is useless until the document changes. */
export class TooLargeError extends Error {}

/** The message of an error of the API: `{"updates": ["…"]}`. */
export async function reasonOf(response: Response): Promise<string> {
  const body: unknown = await response.json().catch(() => undefined);
  const [reason] = Object.values(body ?? {}).flat();
  return typeof reason === "string" ? reason : "The change is too large.";
}
