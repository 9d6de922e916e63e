/** Whether a list of entity tags, or `*`, names this one; a weak one counts as if it were strong. Reference 1.5. */
export function matchesEtag(tags: string, etag: string | undefined): boolean {
  if (etag === undefined) return false;
  return tags.split(",").some((tag) => {
    const one = tag.trim().replace(/^W\//, "");
    return one === "*" || one === `"${etag}"` || one === etag;
  });
}

/** Whether a caller who names what it has by its request's headers has this already. A date that is none is left out. */
export function isNotModified(
  headers: Readonly<Record<string, string>>,
  { etag, saved_at }: { readonly etag: string; readonly saved_at: string },
): boolean {
  const tags = headers["if-none-match"];
  if (tags !== undefined) return matchesEtag(tags, etag);
  const since = Date.parse(headers["if-modified-since"] ?? "");
  return Math.floor(Date.parse(saved_at) / 1000) * 1000 <= since;
}
