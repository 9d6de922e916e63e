import { IconAlertTriangle, IconCheck, IconCloudOff, IconEye, IconLoader2 } from "@tabler/icons-react";
import type { TFunction } from "i18next";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import classes from "./document.module.css";
import type { CollaborationState } from "./use-collaboration.ts";

const ICON_SIZE = 16;

type SaveStateName = "connecting" | "saving" | "saved" | "offline" | "refused" | "view_only";

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
  readonly isTitleSaved: boolean;
}

/** Whether everything that was typed is on the server's disk. */
export function SaveState({ state, isTitleSaved }: Props): ReactNode {
  const { t } = useTranslation();
  const name = nameOfState(state, isTitleSaved);
  const Icon = ICONS[name];
  return (
    <span role="status" className={classes.save} data-save={name}>
      <Icon size={ICON_SIZE} stroke={2} aria-hidden />
      {textOfState(name, state, t)}
    </span>
  );
}

function nameOfState(state: CollaborationState | undefined, isTitleSaved: boolean): SaveStateName {
  if (state === undefined) return "connecting";
  if (state.refusal !== undefined) return "refused";
  if (state.status === "offline") return "offline";
  if (state.unsynced > 0 || !isTitleSaved) return "saving";
  if (!state.isSynced || state.status === "connecting") return "connecting";
  return state.isReadOnly ? "view_only" : "saved";
}

function textOfState(name: SaveStateName, state: CollaborationState | undefined, t: TFunction): string {
  const { unsynced = 0, refusal = "" } = state ?? {};
  switch (name) {
    case "refused":
      return t("document.refused", { reason: refusal });
    case "offline":
      return unsynced === 0 ? t("document.offline") : t("document.offline_unsent", { count: unsynced });
    default:
      return t(`document.${name}`);
  }
}
