import { IconAlertTriangle, IconCheck, IconCloudOff, IconEye, IconLoader2 } from "@tabler/icons-react";
import type { TFunction } from "i18next";
import type { ReactNode } from "react";
import type { WeftProvider } from "../../../client/collaboration/weft-provider.ts";
import { useLeaveWarning } from "../../components/use-leave-warning.ts";
import { useTranslation } from "../../i18n/use-translation.ts";
import classes from "./document.module.css";
import { type CollaborationState, useUnsynced } from "./use-collaboration.ts";
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
  readonly provider: WeftProvider | undefined;
  readonly title: TitleState;
}

/** What is known about what was typed. */
interface Shown extends Pick<Props, "state" | "title"> {
  /** Number of changes that are not on the server's disk. */
  readonly unsynced: number;
}

/** Whether everything that was typed is on the server's disk. Until it is, the browser asks before it leaves the page. */
export function SaveState({ state, provider, title }: Props): ReactNode {
  const { t } = useTranslation();
  const unsynced = useUnsynced(provider);
  const shown: Shown = { state, title, unsynced };
  useLeaveWarning(!title.isSaved || unsynced > 0);
  const refusal = refusalOf(shown, t);
  const accepted = nameOfState(shown);
  const name = refusal === undefined ? accepted : "refused";
  const Icon = ICONS[name];
  return (
    <span role="status" className={classes.save} data-save={name}>
      <Icon size={ICON_SIZE} stroke={2} aria-hidden />
      {refusal === undefined ? textOfState(accepted, shown, t) : t("document.refused", { reason: refusal })}
    </span>
  );
}

/** Why something that was typed is not saved, and will not be as it is. */
function refusalOf({ state, title, unsynced }: Shown, t: TFunction): string | undefined {
  if (state?.refusal !== undefined) return state.refusal;
  return state?.isReadOnly === true && unsynced > 0 ? t("document.rights_lost") : title.refusal;
}

function nameOfState({ state, title, unsynced }: Shown): SaveStateName {
  if (state === undefined) return "connecting";
  if (state.status === "offline") return "offline";
  if (unsynced > 0 || !title.isSaved) return "saving";
  if (!state.isSynced || state.status === "connecting") return "connecting";
  return state.isReadOnly ? "view_only" : "saved";
}

function textOfState(name: SaveStateName, { title, unsynced }: Shown, t: TFunction): string {
  if (name !== "offline") return t(`document.${name}`);
  const count = unsynced + (title.isSaved ? 0 : 1);
  return count === 0 ? t("document.offline") : t("document.offline_unsent", { count });
}
