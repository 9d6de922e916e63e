/** Keeps what was used last, bounded by how many entries and how many characters of keys. */
export class TemplateCache<Value> {
  readonly #limits: { readonly entries: number; readonly characters: number };
  readonly #entries = new Map<string, Value>();
  #characters = 0;

  constructor(limits: { readonly entries: number; readonly characters: number }) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): Value | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  /** Returns the value, which stays uncached when its key alone passes the limit. */
  add(key: string, value: Value): Value {
    if (key.length > this.#limits.characters) return value;
    this.#entries.set(key, value);
    this.#characters += key.length;
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#limits.entries && this.#characters <= this.#limits.characters) break;
      this.#entries.delete(oldest);
      this.#characters -= oldest.length;
    }
    return value;
  }
}
