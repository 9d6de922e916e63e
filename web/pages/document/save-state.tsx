import { IconAlertTriangle, IconCheck, IconCloudOff, IconEye, IconLoader2 } from "@tabler/icons-react";
import type { TFunction } from "i18next";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import classes from "./document.module.css";
import type { CollaborationState } from "./use-collaboration.ts";
import type { TitleState } from "./use-title.ts";

const ICON_SIZE = 16;

/** The states in which everything that was typed is saved, or will be. */
type SaveStateName = "connecting" | "saving" | "saved" | "offline" | "view_only";

const ICONS = {
  connecting: IconLoader2,
  saving: IconLoader2,
  saved: IconCheck,
  offline: IconCloudOff,
  refused: IconAlertTriangle,
  view_only: IconEye,
} as const;

interface Props {
  readonly state: CollaborationState | undefined;
  readonly title: TitleState;
}

/** Whether everything that was typed is on the server's disk. */
export function SaveState({ state, title }: Props): ReactNode {
  const { t } = useTranslation();
  const refusal = refusalOf(state, title, t);
  const accepted = nameOfState(state, title);
  const name = refusal === undefined ? accepted : "refused";
  const Icon = ICONS[name];
  return (
    <span role="status" className={classes.save} data-save={name}>
      <Icon size={ICON_SIZE} stroke={2} aria-hidden />
      {refusal === undefined
        ? textOfState(accepted, state, title, t)
        : t("document.refused", { reason: refusal })}
    </span>
  );
}

/** Why something that was typed is not saved, and will not be as it is. */
function refusalOf(
  state: CollaborationState | undefined,
  title: TitleState,
  t: TFunction,
): string | undefined {
  if (state?.refusal !== undefined) return state.refusal;
  return state?.isReadOnly === true && state.unsynced > 0 ? t("document.rights_lost") : title.refusal;
}

function nameOfState(state: CollaborationState | undefined, title: TitleState): SaveStateName {
  if (state === undefined) return "connecting";
  if (state.status === "offline") return "offline";
  if (state.unsynced > 0 || !title.isSaved) return "saving";
  if (!state.isSynced || state.status === "connecting") return "connecting";
  return state.isReadOnly ? "view_only" : "saved";
}

function textOfState(
  name: SaveStateName,
  state: CollaborationState | undefined,
  title: TitleState,
  t: TFunction,
): string {
  if (name !== "offline") return t(`document.${name}`);
  const count = (state?.unsynced ?? 0) + (title.isSaved ? 0 : 1);
  return count === 0 ? t("document.offline") : t("document.offline_unsent", { count });
}
