/** Width and height in pixels. */
export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** The type that office documents name an image by. */
export type OfficeImage = "png" | "jpg" | "gif" | "bmp";

const OFFICE_TYPES: Readonly<Record<string, OfficeImage>> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/gif": "gif",
  "image/bmp": "bmp",
};

/** Undefined for images that office programs do not show. */
export const officeImage = (type: string): OfficeImage | undefined =>
  Object.hasOwn(OFFICE_TYPES, type) ? OFFICE_TYPES[type] : undefined;

/** Reads the size from the header; the image is not decoded. Undefined if it cannot be read. */
export function imageSize(bytes: Uint8Array): ImageSize | undefined {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const size = pngSize(view) ?? gifSize(view) ?? bmpSize(view) ?? webpSize(view) ?? jpegSize(view);
  return size !== undefined && size.width > 0 && size.height > 0 ? size : undefined;
}

function pngSize(view: Buffer): ImageSize | undefined {
  if (view.length < 24 || view.readUInt32BE(0) !== 0x89504e47) return undefined;
  return { width: view.readUInt32BE(16), height: view.readUInt32BE(20) };
}

function gifSize(view: Buffer): ImageSize | undefined {
  if (view.length < 10 || view.toString("latin1", 0, 3) !== "GIF") return undefined;
  return { width: view.readUInt16LE(6), height: view.readUInt16LE(8) };
}

function bmpSize(view: Buffer): ImageSize | undefined {
  if (view.length < 26 || view.toString("latin1", 0, 2) !== "BM") return undefined;
  return { width: Math.abs(view.readInt32LE(18)), height: Math.abs(view.readInt32LE(22)) };
}

function webpSize(view: Buffer): ImageSize | undefined {
  if (view.length < 30 || view.toString("latin1", 8, 12) !== "WEBP") return undefined;
  const kind = view.toString("latin1", 12, 16);
  if (kind === "VP8X") return { width: view.readUIntLE(24, 3) + 1, height: view.readUIntLE(27, 3) + 1 };
  if (kind === "VP8 ")
    return { width: view.readUInt16LE(26) & 0x3fff, height: view.readUInt16LE(28) & 0x3fff };
  const bits = view.readUInt32LE(21);
  return kind === "VP8L" ? { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 } : undefined;
}

/** The size is in the first frame's header, after segments of other kinds. */
function jpegSize(view: Buffer): ImageSize | undefined {
  if (view.length < 4 || view.readUInt16BE(0) !== 0xffd8) return undefined;
  let at = 2;
  while (at + 9 < view.length) {
    if (view[at] !== 0xff) return undefined;
    const marker = view[at + 1] ?? 0;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { width: view.readUInt16BE(at + 7), height: view.readUInt16BE(at + 5) };
    at += 2 + view.readUInt16BE(at + 2);
  }
  return undefined;
}

/** The size to show an image in: its own or the wanted width, at most `most` pixels wide. */
export function shownSize(bytes: Uint8Array, wanted: number | undefined, most: number): ImageSize {
  const own = imageSize(bytes) ?? { width: wanted ?? most, height: wanted ?? most };
  const width = Math.max(1, Math.min(wanted ?? own.width, most));
  return { width: Math.round(width), height: Math.max(1, Math.round((own.height * width) / own.width)) };
}
