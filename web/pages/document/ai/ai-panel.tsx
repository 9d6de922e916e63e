import { type ReactNode, useEffect, useRef, useState } from "react";
import { ApiFailure } from "../../../../client/api.ts";
import { Button } from "../../../components/button.tsx";
import { messageOf } from "../../../components/error-state.tsx";
import { useTranslation } from "../../../i18n/use-translation.ts";
import { useBlockEditor } from "../document-schema.ts";
import { Floating } from "../menus/floating.tsx";
import { selectionRect } from "../menus/format-toolbar.tsx";
import classes from "./ai.module.css";
import { type AiRequest, askModel } from "./ask-model.ts";
import { insertBelow, replaceContent, type SelectedContent, textOfHtml } from "./selected-content.ts";

const LENGTH_MAX = 2_000;

interface Props {
  readonly id: string;
  readonly content: SelectedContent;
  readonly asked: AiRequest | undefined;
  readonly onAsk: (instruction: string) => void;
  readonly onClose: () => void;
}

/** Shows the answer of the model while it arrives. Nothing in the document changes before the user accepts it. */
export function AiPanel({ id, content, asked, onAsk, onClose }: Props): ReactNode {
  const { t } = useTranslation();
  const editor = useBlockEditor();
  const { answer, state, error, stop } = useAnswer(id, asked);
  const first = useRef<HTMLButtonElement>(null);
  const isHtml = asked?.kind === "translate";
  useEffect(() => {
    if (state !== "waiting") first.current?.focus();
  }, [state]);
  const finish = (apply: typeof replaceContent) => () => {
    onClose();
    apply(editor, content, answer, isHtml);
  };
  return (
    <Floating
      rect={() => selectionRect(editor)}
      side="below"
      role="dialog"
      aria-label={t("ai.title")}
      className={classes.panel}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === "Escape") onClose();
      }}
    >
      {asked === undefined ? (
        <Instruction onAsk={onAsk} onCancel={onClose} />
      ) : (
        <>
          <p role="status" className={classes.state}>
            {t(`ai.state_${state}`)}
          </p>
          {answer !== "" && (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: a long answer is scrolled by keyboard
            <section className={classes.answer} tabIndex={0} aria-label={t("ai.answer")} dir="auto">
              {isHtml ? textOfHtml(answer) : answer}
            </section>
          )}
          {error !== "" && (
            <p role="alert" className={classes.error}>
              {error}
            </p>
          )}
          <div className={classes.actions}>
            {state === "done" && (
              <>
                <Button ref={first} size="compact-sm" onClick={finish(replaceContent)}>
                  {t("ai.accept")}
                </Button>
                <Button size="compact-sm" variant="default" onClick={finish(insertBelow)}>
                  {t("ai.insert_below")}
                </Button>
              </>
            )}
            {state === "waiting" && (
              <Button size="compact-sm" variant="default" onClick={stop}>
                {t("ai.stop")}
              </Button>
            )}
            <Button
              ref={state === "failed" ? first : undefined}
              size="compact-sm"
              variant="default"
              onClick={onClose}
            >
              {t("ai.discard")}
            </Button>
          </div>
        </>
      )}
    </Floating>
  );
}

interface InstructionProps {
  readonly onAsk: (instruction: string) => void;
  readonly onCancel: () => void;
}

function Instruction({ onAsk, onCancel }: InstructionProps): ReactNode {
  const { t } = useTranslation();
  const [text, setText] = useState("");
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== "") onAsk(text.trim());
      }}
    >
      <input
        // biome-ignore lint/a11y/noAutofocus: the user has just asked for this field
        autoFocus
        aria-label={t("ai.instruction")}
        placeholder={t("ai.instruction")}
        maxLength={LENGTH_MAX}
        value={text}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
      />
      <div className={classes.actions}>
        <Button type="submit" size="compact-sm" disabled={text.trim() === ""}>
          {t("ai.send")}
        </Button>
        <Button size="compact-sm" variant="default" onClick={onCancel}>
          {t("ai.discard")}
        </Button>
      </div>
    </form>
  );
}

interface Answer {
  readonly answer: string;
  readonly state: "waiting" | "done" | "failed";
  readonly error: string;
  readonly stop: () => void;
}

function useAnswer(id: string, asked: AiRequest | undefined): Answer {
  const { t } = useTranslation();
  const [answer, setAnswer] = useState("");
  const [state, setState] = useState<Answer["state"]>("waiting");
  const [error, setError] = useState("");
  const abort = useRef<AbortController>(undefined);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another language is no reason to ask again
  useEffect(() => {
    if (asked === undefined) return;
    const controller = new AbortController();
    abort.current = controller;
    const read = async (): Promise<void> => {
      try {
        for await (const part of askModel(id, asked, controller.signal)) setAnswer((text) => text + part);
        setState("done");
      } catch (failure) {
        if (controller.signal.aborted) return;
        setError(failure instanceof ApiFailure ? messageOf(failure, t) : String((failure as Error).message));
        setState("failed");
      }
    };
    void read();
    return () => controller.abort();
  }, [id, asked]);
  return {
    answer,
    state,
    error,
    stop: () => {
      abort.current?.abort();
      setState(answer === "" ? "failed" : "done");
    },
  };
}
