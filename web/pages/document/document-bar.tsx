import { type ReactNode, useEffect, useState } from "react";
import { Link } from "wouter";
import type { Awareness } from "y-protocols/awareness";
import type { WeftProvider } from "../../../client/collaboration/weft-provider.ts";
import { useTranslation } from "../../i18n/use-translation.ts";
import classes from "./document.module.css";
import { onOthers, type Participant, participantsOf } from "./participants.ts";
import { SaveState } from "./save-state.tsx";
import type { CollaborationState } from "./use-collaboration.ts";
import type { TitleState } from "./use-title.ts";

const SHOWN_MAX = 4;

interface Props {
  readonly state: CollaborationState | undefined;
  readonly title: TitleState;
  readonly provider: WeftProvider | undefined;
  /** What can be done with the document. */
  readonly children?: ReactNode;
}

/** The way back, who is here, and whether everything is saved. */
export function DocumentBar({ state, title, provider, children }: Props): ReactNode {
  const { t } = useTranslation();
  const participants = useParticipants(provider?.awareness);
  const shown = participants.slice(0, SHOWN_MAX);
  return (
    <div className={classes.bar}>
      <Link href="/" className={classes.back}>
        {t("navigation.documents")}
      </Link>
      {shown.length > 0 && (
        <ul
          className={classes.people}
          aria-label={t("document.present", { names: participants.map(({ name }) => name).join(", ") })}
        >
          {shown.map(({ id, name, color }) => (
            <li key={id} title={name} style={{ borderColor: color }}>
              {name.slice(0, 1).toUpperCase()}
            </li>
          ))}
          {participants.length > SHOWN_MAX && <li>+{participants.length - SHOWN_MAX}</li>}
        </ul>
      )}
      <SaveState state={state} provider={provider} title={title} />
      {children}
    </div>
  );
}

function useParticipants(awareness: Awareness | undefined): readonly Participant[] {
  const [participants, setParticipants] = useState<readonly Participant[]>([]);
  useEffect(() => {
    if (awareness === undefined) return;
    const update = (): void => setParticipants(participantsOf(awareness));
    update();
    return onOthers(awareness, update);
  }, [awareness]);
  return participants;
}
