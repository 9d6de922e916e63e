import { useQuery } from "@tanstack/react-query";
import { type ReactNode, type RefObject, useEffect, useId, useRef } from "react";
import { ApiFailure, dataOf } from "../../../client/api.ts";
import { api } from "../../api/client.ts";
import { type ValidatedWorkflow, validateWorkflow } from "../../api/workflows.ts";
import { useTranslation } from "../../i18n/use-translation.ts";
import { type CodeEditor, createCodeEditor } from "./code-editor.ts";
import { outlineOf } from "./outline.ts";
import type { Outline } from "./outline-steps.ts";
import type { Schema } from "./schema-completion.ts";
import classes from "./workflow.module.css";

/** How long the typing must pause before the list of steps is read again, milliseconds. */
const OUTLINE_MS = 300;

const UNREADABLE = { valid: false, name: "", kind: "", warnings: [] } as const;

interface Props {
  /** The text at the beginning. */
  readonly text: string;
  readonly onChange: (text: string) => void;
  readonly onCursor: (line: number) => void;
  readonly onSave: () => void;
  readonly onValidated: (result: ValidatedWorkflow) => void;
  readonly onOutline: (outline: Outline) => void;
  readonly editor: RefObject<CodeEditor | undefined>;
}

/** The YAML of a workflow, which the service validates while it is written. */
export function SourceEditor({ text, editor, ...handlers }: Props): ReactNode {
  const { t } = useTranslation();
  const hint = useId();
  const parent = useRef<HTMLDivElement>(null);
  const current = useRef(handlers);
  current.current = handlers;
  const initial = useRef(text);
  const schema = useQuery({
    queryKey: ["schemas", "workflow"],
    queryFn: ({ signal }) => dataOf(api.GET("/automation/schemas/workflow.json", { signal })),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const schemaRef = useRef<Schema | undefined>(undefined);
  schemaRef.current = schema.data as Schema | undefined;
  const label = t("workflow.source");
  useEffect(() => {
    if (parent.current === null) return;
    const controllers = new Set<AbortController>();
    let timer: ReturnType<typeof setTimeout> | undefined;
    current.current.onOutline(outlineOf(initial.current));
    const created = createCodeEditor({
      parent: parent.current,
      text: initial.current,
      label,
      describedBy: hint,
      onChange: (changed) => {
        initial.current = changed;
        current.current.onChange(changed);
        clearTimeout(timer);
        timer = setTimeout(() => current.current.onOutline(outlineOf(changed)), OUTLINE_MS);
      },
      onCursor: (line) => current.current.onCursor(line),
      onSave: () => current.current.onSave(),
      validate: async (changed) => {
        for (const controller of controllers) controller.abort();
        const controller = new AbortController();
        controllers.add(controller);
        try {
          const result = await validateWorkflow(changed, controller.signal);
          current.current.onValidated(result);
          return result;
        } catch (error) {
          // Without a response, the connection's notice says so; the next change validates again.
          if (!(error instanceof ApiFailure)) return undefined;
          const result = { ...UNREADABLE, errors: [{ message: error.message }] };
          current.current.onValidated(result);
          return result;
        } finally {
          controllers.delete(controller);
        }
      },
      schema: () => schemaRef.current,
    });
    editor.current = created;
    return () => {
      clearTimeout(timer);
      for (const controller of controllers) controller.abort();
      editor.current = undefined;
      created.destroy();
    };
  }, [label, hint, editor]);
  return (
    <>
      <div ref={parent} className={classes.code} />
      <p id={hint} className={classes.hint}>
        {t("workflow.source_hint")}
      </p>
    </>
  );
}
