/**
 * JavaScript that runs inside the VM before any user code. It keeps the built-ins that it needs in constants and
 * iterates by index, so that user code that replaces built-ins affects only itself.
 */

/**
 * Returns the function that evaluates user code, separate from other code so that its only outer scope is the global
 * one.
 */
export const EVALUATOR_SOURCE = "(function () { return eval(arguments[0]); })";

/**
 * Returns `setUp(evaluator, call)`, which returns the four functions that the host calls; `extend(namesJson)` defines
 * library functions. Their results start with `v` (a value as JSON), `e` (an error) or `p` (a pending promise).
 * `call(name, argumentsJson)` returns `v` and JSON, `u` for undefined, `e` and a message, `s` if the code is out of
 * time (the code then loops until the engine's own check, which cannot be caught, ends it), or `x` and `{codes,
 * names}`: each code is evaluated, and a call without a name passes their results.
 */
export const SETUP_SOURCE = `(function () {
  "use strict";
  const { parse, stringify } = JSON;
  const { defineProperty, ownKeys, deleteProperty } = Reflect;
  const create = Object.create;
  const text = String;
  const isObject = (value) => typeof value === "object" && value !== null;
  const uncurry = Function.prototype.bind.bind(Function.prototype.call);
  const slice = uncurry(String.prototype.slice);
  const includes = uncurry(String.prototype.includes);
  const then = uncurry(Promise.prototype.then);
  const ErrorClass = Error;
  const PromiseClass = Promise;
  const root = globalThis;

  const toJson = (value) => {
    const json = stringify(value);
    return "v" + (json === undefined ? "null" : json);
  };
  const describe = (thrown) => {
    if (!isObject(thrown)) return "e" + text(thrown);
    if (thrown instanceof ErrorClass) {
      const message = text(thrown.message);
      return "e" + text(thrown.name) + (message === "" ? "" : ": " + message);
    }
    return "e" + stringify(thrown);
  };
  const define = (name, value) =>
    defineProperty(root, name, { __proto__: null, value, writable: true, enumerable: false, configurable: true });

  return (evaluator, call) => {
    const known = create(null);
    const library = create(null);
    const knownKeys = ownKeys(root);
    for (let i = 0; i < knownKeys.length; i++) known[knownKeys[i]] = { value: root[knownKeys[i]] };

    const append = (list, value) =>
      defineProperty(list, list.length, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
    /* Functions are defined when the first code names them: most code names a few of very many. */
    const extend = (namesJson) => {
      const names = parse(namesJson);
      for (let i = 0; i < names.length; i++) {
        const name = names[i];
        if (known[name] !== undefined) continue;
        const value = (...args) => callLibrary(name, args);
        known[name] = { value };
        library[name] = true;
        append(knownKeys, name);
        if (root[name] === undefined) define(name, value);
      }
    };
    const callLibrary = (name, args) => {
      let answer = call(name, stringify(args));
      while (answer[0] === "x") answer = call("", stringify(evaluateParts(parse(slice(answer, 1)))));
      const kind = answer[0];
      if (kind === "s") for (;;);
      if (kind === "u") return undefined;
      const rest = slice(answer, 1);
      if (kind === "e") throw new ErrorClass(rest);
      return parse(rest);
    };
    const evaluateParts = ({ codes, names }) => {
      const texts = [];
      extend(names);
      for (let i = 0; i < codes.length; i++) {
        let text;
        try {
          const value = evaluator(codes[i]);
          text = value instanceof PromiseClass ? "p" : toJson(value);
        } catch (thrown) {
          text = describe(thrown);
        }
        append(texts, text);
      }
      return texts;
    };
    let settled = "p";
    const evaluate = (variablesJson, code) => {
      settled = "p";
      const variables = parse(variablesJson);
      const keys = ownKeys(variables);
      for (let i = 0; i < keys.length; i++) {
        /* A variable cannot be called: code that calls a function of the library means the function. */
        const isCalled = library[keys[i]] === true && includes(code, keys[i] + "(");
        if (keys[i] !== "eval" && !isCalled) define(keys[i], variables[keys[i]]);
      }
      try {
        const value = evaluator(code);
        if (!(value instanceof PromiseClass)) return toJson(value);
        then(value, (result) => { settled = toJson(result); }, (thrown) => { settled = describe(thrown); })
          .then(undefined, (thrown) => { settled = describe(thrown); });
        return "p";
      } catch (thrown) {
        return describe(thrown);
      }
    };
    const outcome = () => settled;
    /* Takes away what the code left in the global scope; false when it cannot be taken away. */
    const restore = () => {
      const keys = ownKeys(root);
      for (let i = 0; i < keys.length; i++) {
        if (known[keys[i]] === undefined && !deleteProperty(root, keys[i])) return false;
      }
      for (let i = 0; i < knownKeys.length; i++) {
        const key = knownKeys[i];
        const value = known[key].value;
        if (root[key] !== value && value === value && !define(key, value)) return false;
      }
      return true;
    };
    return { extend, evaluate, outcome, restore };
  };
})()`;
