import {
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  completionKeymap,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, forceLinting, linter, lintGutter, lintKeymap } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState, type Text } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { ValidatedWorkflow } from "../../api/workflows.ts";
import { styleNonce } from "../../nonce.ts";
import { propose, type Schema } from "./schema-completion.ts";

/** How long the typing must pause before the service validates the text, milliseconds. */
const VALIDATION_MS = 400;
/** Lines below the cursor that completion reads. */
const LINES_AFTER = 100;

export interface CodeEditorOptions {
  readonly parent: HTMLElement;
  readonly text: string;
  readonly label: string;
  /** Id of the element that says how to leave the editor by keyboard. */
  readonly describedBy: string;
  readonly onChange: (text: string) => void;
  /** Line of the cursor, from 1. */
  readonly onCursor: (line: number) => void;
  readonly onSave: () => void;
  /** Resolves with undefined if the service did not respond. */
  readonly validate: (text: string) => Promise<ValidatedWorkflow | undefined>;
  /** JSON Schema of workflows; undefined until it is known. */
  readonly schema: () => Schema | undefined;
}

export interface CodeEditor {
  /** Puts the cursor at the beginning of a line, and the focus into the editor. */
  readonly goTo: (line: number) => void;
  /** Replaces the text, which Undo brings back. */
  readonly replace: (text: string) => void;
  readonly destroy: () => void;
}

const theme = EditorView.theme({
  "&": { height: "100%", fontSize: "var(--text-sm)", backgroundColor: "var(--surface)" },
  "&.cm-focused": { outline: "2px solid var(--accent-text)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "var(--font-code)", lineHeight: "1.55" },
  ".cm-content": { caretColor: "var(--text)", padding: "var(--space-2) 0" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    background: "var(--surface-selected)",
  },
  ".cm-gutters": { backgroundColor: "var(--surface)", color: "var(--text-muted)", border: "0" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--surface-side)" },
  ".cm-selectionMatch": { backgroundColor: "var(--surface-hover)" },
  ".cm-panels": { backgroundColor: "var(--surface-side)", color: "var(--text)" },
  ".cm-tooltip": {
    border: "1px solid var(--line)",
    borderRadius: "var(--radius-control)",
    backgroundColor: "var(--surface-raised)",
    boxShadow: "var(--shadow)",
    color: "var(--text)",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--font-code)" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": {
    backgroundColor: "var(--accent)",
    color: "var(--on-accent)",
  },
});

const highlighting = syntaxHighlighting(
  HighlightStyle.define([
    { tag: [tags.definition(tags.propertyName), tags.propertyName], color: "var(--accent-text)" },
    { tag: [tags.string, tags.special(tags.string)], color: "var(--good)" },
    { tag: [tags.number, tags.bool, tags.null], color: "var(--info)" },
    { tag: [tags.keyword, tags.meta, tags.typeName, tags.labelName], color: "var(--warn)" },
    { tag: tags.comment, color: "var(--text-muted)", fontStyle: "italic" },
    { tag: [tags.separator, tags.punctuation, tags.squareBracket, tags.brace], color: "var(--text-muted)" },
  ]),
);

export function createCodeEditor(options: CodeEditorOptions): CodeEditor {
  const view = new EditorView({
    parent: options.parent,
    state: EditorState.create({
      doc: options.text,
      extensions: [
        EditorView.cspNonce.of(styleNonce()),
        lineNumbers(),
        highlightActiveLine(),
        highlightActiveLineGutter(),
        drawSelection(),
        history(),
        indentOnInput(),
        bracketMatching(),
        highlightSelectionMatches(),
        yaml(),
        highlighting,
        theme,
        lintGutter(),
        linter(({ state }) => diagnose(state.doc, options), { delay: VALIDATION_MS }),
        autocompletion({ override: [(context) => complete(context, options.schema())] }),
        keymap.of([
          {
            key: "Mod-s",
            preventDefault: true,
            run: () => {
              options.onSave();
              return true;
            },
          },
          ...completionKeymap,
          ...searchKeymap,
          ...historyKeymap,
          ...lintKeymap,
          ...defaultKeymap,
          indentWithTab,
        ]),
        EditorView.contentAttributes.of({
          // Long lines are scrolled by keyboard: what scrolls must be reachable.
          tabindex: "0",
          "aria-label": options.label,
          "aria-describedby": options.describedBy,
          spellcheck: "false",
        }),
        EditorView.updateListener.of(({ state, docChanged, selectionSet }) => {
          if (docChanged) options.onChange(state.doc.toString());
          if (docChanged || selectionSet)
            options.onCursor(state.doc.lineAt(state.selection.main.head).number);
        }),
      ],
    }),
  });
  forceLinting(view);
  return {
    goTo: (line) => {
      const { from } = view.state.doc.line(Math.min(Math.max(1, line), view.state.doc.lines));
      view.dispatch({
        selection: { anchor: from },
        effects: EditorView.scrollIntoView(from, { y: "center" }),
      });
      view.focus();
    },
    replace: (text) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } }),
    destroy: () => view.destroy(),
  };
}

async function diagnose(doc: Text, { validate }: CodeEditorOptions): Promise<Diagnostic[]> {
  const result = await validate(doc.toString());
  return (result?.errors ?? []).map(({ message, path, line = 1, column = 1 }) => {
    const found = doc.line(Math.min(Math.max(1, line), doc.lines));
    const from = Math.min(found.from + column - 1, found.to);
    const text = path === undefined || path === "" ? message : `${path}: ${message}`;
    return { from, to: found.to, severity: "error", message: text };
  });
}

function complete(context: CompletionContext, schema: Schema | undefined): CompletionResult | null {
  if (schema === undefined) return null;
  const { doc } = context.state;
  const line = doc.lineAt(context.pos);
  const before = doc.sliceString(0, context.pos).split("\n");
  const afterEnd = doc.line(Math.min(doc.lines, line.number + LINES_AFTER)).to;
  const after = doc.sliceString(line.to, afterEnd).split("\n").slice(1);
  const found = propose(schema, before, after);
  if (found === undefined || (found.prefix === "" && !context.explicit && !line.text.endsWith(": ")))
    return null;
  return {
    from: context.pos - found.prefix.length,
    options: found.proposals.map(({ label, kind, detail }) => ({
      label,
      type: kind === "field" ? "property" : "enum",
      ...(kind === "field" ? { apply: `${label}: ` } : {}),
      ...(detail === undefined ? {} : { info: detail }),
    })),
    validFor: /^[\w-]*$/,
  };
}
