const HEADER_MAX_LENGTH = 1024;
const IDENTITY = "identity";
const QUALITY = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/i;

/**
 * The content codings among `available` that an `Accept-Encoding` header accepts, and `identity`, the preferred one first.
 * Equal preferences keep the order of `available`, with `identity` last. Without the header, or if the header is
 * too long, only `identity` is accepted; it is also the fallback if the header accepts nothing. RFC 9110, 12.5.3.
 */
export function acceptedEncodings(
  header: string | undefined,
  available: readonly string[],
): readonly string[] {
  if (header === undefined || header.length > HEADER_MAX_LENGTH) return [IDENTITY];
  const qualities = parseQualities(header);
  const any = qualities.get("*") ?? 0;
  const accepted = available
    .map((encoding) => ({ encoding, quality: qualities.get(encoding) ?? any }))
    .filter(({ quality }) => quality > 0);
  return [...accepted, { encoding: IDENTITY, quality: qualities.get(IDENTITY) ?? any }]
    .toSorted((one, other) => other.quality - one.quality)
    .map(({ encoding }) => encoding);
}

function parseQualities(header: string): ReadonlyMap<string, number> {
  const qualities = new Map<string, number>();
  for (const part of header.split(",")) {
    const [name = "", ...parameters] = part.split(";").map((text) => text.trim());
    if (name === "") continue;
    const weight = parameters.find((parameter) => /^q=/i.test(parameter));
    const quality = weight === undefined ? 1 : Number(QUALITY.exec(weight)?.[1] ?? 0);
    const encoding = name.toLowerCase().replace(/^x-gzip$/, "gzip");
    qualities.set(encoding, Math.max(quality, qualities.get(encoding) ?? 0));
  }
  return qualities;
}
