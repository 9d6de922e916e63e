import * as Y from "yjs";
import { type Edited, type Place, placesOf, type TypeId } from "./test-block-editor.ts";

/** A character that was written into a document, each another one. */
interface Written {
  /** The client id of each copy of the document into which it was written or copied, and where. */
  readonly places: { readonly client: number; readonly around: readonly TypeId[]; isSaved: boolean }[];
  /** Somebody deleted it, or set the content back to one without it. */
  isRemovable: boolean;
  /** A set-back or a restored version kept it. */
  isKept: boolean;
  /** Only an offline client has it. */
  isHidden: boolean;
}

const FIRST_CHAR = 0x4e00;

/**
 * What was written into a document by several clients, and what may be missing in it. Editing positions are not modeled:
 * a character is missing if it is nowhere.
 */
export class WrittenText {
  readonly #chars = new Map<string, Written>();
  #count = 0;
  /** Elements that clients have deleted. */
  readonly #deleted = new Set<TypeId>();
  /** The number of operations of each client that are saved. */
  readonly #clocks = new Map<number, number>();
  #isSetBack = false;

  nextChar(): string {
    this.#count += 1;
    const char = String.fromCodePoint(FIRST_CHAR + this.#count);
    this.#of(char);
    return char;
  }

  /** A client has edited its copy of the document. */
  note({ deleted, elements, added }: Edited, { clientID: client }: Y.Doc, isOffline: boolean): void {
    for (const { char } of deleted) this.#of(char).isRemovable = true;
    for (const id of elements) this.#deleted.add(id);
    for (const { char, around } of added) {
      const written = this.#of(char);
      if (written.places.length === 0) written.isHidden = isOffline;
      written.places.push({ client, around, isSaved: false });
    }
  }

  /** Everything that a client has written is shown as saved. */
  noteSaved(doc: Y.Doc): void {
    this.snapshot(doc)();
  }

  /** Returns a function to call when everything that a client has written so far is saved. */
  snapshot(doc: Y.Doc): () => void {
    const client = doc.clientID;
    const places = [...this.#chars.values()].flatMap((written) => written.places);
    const own = places.filter((place) => place.client === client);
    const clock = Y.getState(doc.store, client);
    return () => {
      for (const place of own) place.isSaved = true;
      this.#clocks.set(client, Math.max(clock, this.#clocks.get(client) ?? 0));
    };
  }

  noteOnline({ clientID }: Y.Doc): void {
    for (const written of this.#chars.values())
      if (written.places[0]?.client === clientID) written.isHidden = false;
  }

  /** A client has ended without saving. */
  noteLeft({ clientID }: Y.Doc): void {
    for (const { places } of this.#chars.values())
      for (const [at, { client, isSaved }] of [...places.entries()].reverse())
        if (client === clientID && !isSaved) places.splice(at, 1);
  }

  /** A script has appended a character; `content` is what was stored afterwards. */
  noteAppended(char: string, content: Y.Doc): void {
    const written = this.#of(char);
    written.isKept = true;
    const place = placesOf(content).find((one) => one.char === char);
    if (place !== undefined) written.places.push({ client: 0, around: place.around, isSaved: true });
  }

  /** The content has been set back, as far as the server knew it. */
  noteSetBack(content: Y.Doc): void {
    this.#isSetBack = true;
    const kept = new Set(placesOf(content).map(({ char }) => char));
    for (const [char, written] of this.#chars)
      if (kept.has(char)) written.isKept = true;
      else if (!written.isHidden) written.isRemovable = true;
  }

  /** What was saved and is missing, although nobody has removed it. */
  findLost(stored: Y.Doc): string[] {
    const present = new Set(placesOf(stored).map(({ char }: Place) => char));
    const lost = [...this.#chars]
      .filter(([char, written]) => !present.has(char) && this.#isRequired(written, stored))
      .map(([char, written]) => `${char} ${JSON.stringify(written)}`);
    const clients = [...this.#clocks].filter(([client, clock]) => Y.getState(stored.store, client) < clock);
    return [...lost, ...clients.map(([client]) => `operations of client ${client}`)];
  }

  #isRequired({ places, isKept, isRemovable }: Written, stored: Y.Doc): boolean {
    // A client that does not have the character yet may delete the block around it.
    const inDeleted = ({ around }: Written["places"][number]): boolean =>
      around.some((id) => this.#deleted.has(id));
    if (isRemovable || (isKept && places.some(inDeleted))) return false;
    return (
      isKept ||
      places.some(
        (place) =>
          place.isSaved &&
          !inDeleted(place) &&
          !(this.#isSetBack && place.around.some((id) => isDeleted(stored, id))),
      )
    );
  }

  #of(char: string): Written {
    const known = this.#chars.get(char);
    if (known !== undefined) return known;
    const written: Written = { places: [], isRemovable: false, isKept: false, isHidden: false };
    this.#chars.set(char, written);
    return written;
  }
}

/** Whether an element was deleted in a document that has all operations. */
function isDeleted({ store }: Y.Doc, id: TypeId): boolean {
  const [client = 0, clock = 0] = id.split(":").map(Number);
  if (clock >= Y.getState(store, client)) return false;
  const struct = Y.getItem(store, Y.createID(client, clock));
  return !(struct instanceof Y.Item) || struct.deleted;
}
