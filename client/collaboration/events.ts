/** Calls listeners of named events. */
export class Events<Map extends object> {
  readonly #listeners = new globalThis.Map<keyof Map, Set<(data: never) => void>>();

  /** Returns a function that removes the listener. */
  on<Name extends keyof Map>(name: Name, listener: (data: Map[Name]) => void): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  protected emit<Name extends keyof Map>(name: Name, data: Map[Name]): void {
    for (const listener of [...(this.#listeners.get(name) ?? [])])
      (listener as (data: Map[Name]) => void)(data);
  }
}
