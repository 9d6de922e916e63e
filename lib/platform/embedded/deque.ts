/** A double-ended queue with constant-time operations at both ends. */
export class Deque<Value> {
  #values: (Value | undefined)[] = [];
  #head = 0;

  get length(): number {
    return this.#values.length - this.#head;
  }

  push(value: Value): void {
    this.#values.push(value);
  }

  peek(): Value | undefined {
    return this.#values[this.#head];
  }

  /** The value at a position, counted from the first. */
  at(index: number): Value | undefined {
    return this.#values[this.#head + index];
  }

  shift(): Value | undefined {
    if (this.length === 0) return undefined;
    const value = this.#values[this.#head];
    this.#values[this.#head] = undefined;
    this.#head += 1;
    if (this.#head > 64 && this.#head * 2 > this.#values.length) {
      this.#values = this.#values.slice(this.#head);
      this.#head = 0;
    }
    return value;
  }
}
