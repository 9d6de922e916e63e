import { parseHTML } from "linkedom/worker";

interface LightElement {
  getAttribute(name: string): string | null;
  setAttribute(name: string, value: string): void;
}

/** A window with a minimal DOM that is fast to write, with only what the editor needs. */
export function lightWindow(): unknown {
  const window = parseHTML("<!doctype html><html><head></head><body></body></html>");
  const { document } = window;
  // URLs are kept unchanged: this DOM decodes some, and does not support others.
  define(document.createElement("a"), "href", reflecting("href"));
  for (const name of ["img", "video", "audio"])
    define(document.createElement(name), "src", reflecting("src"));
  define(document.createElement("input"), "checked", {
    get(this: LightElement): boolean {
      return this.getAttribute("checked") !== null;
    },
    // Markup has only attributes.
    set() {},
  });
  // The widths of a table's columns are set as text, as browsers accept it.
  const column = document.createElement("col");
  const style = propertyOf(column, "style");
  define(column, "style", {
    get: style?.get as () => unknown,
    set(this: LightElement, value: unknown) {
      this.setAttribute("style", String(value));
    },
  });
  // This DOM does not escape ampersands, so that parsing would return another value.
  define(document.createAttribute("a"), "toString", {
    value(this: { readonly name: string; readonly value: string }): string {
      return `${this.name}="${this.value.replaceAll("&", "&amp;").replaceAll('"', "&quot;")}"`;
    },
  });
  return window;
}

function propertyOf(one: object, name: string): PropertyDescriptor | undefined {
  for (let at: object | null = one; at !== null; at = Object.getPrototypeOf(at)) {
    const property = Object.getOwnPropertyDescriptor(at, name);
    if (property !== undefined) return property;
  }
  return undefined;
}

/** Defines a property for all objects of the same class. */
function define(one: object, name: string, property: PropertyDescriptor): void {
  Object.defineProperty(Object.getPrototypeOf(one), name, { ...property, configurable: true });
}

/** A property that reflects its attribute. */
const reflecting = (name: string): PropertyDescriptor => ({
  get(this: LightElement): string {
    return this.getAttribute(name) ?? "";
  },
  set(this: LightElement, value: unknown) {
    this.setAttribute(name, String(value));
  },
});
