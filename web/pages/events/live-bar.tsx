import { IconPlayerPause, IconPlayerPlay } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { Button } from "../../components/button.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";
import classes from "./events.module.css";
import type { LiveEvents } from "./live-events.ts";

const ICON_SIZE = 14;

/** Says whether new events arrive, and stops them. */
export function LiveBar({ live }: { readonly live: LiveEvents }): ReactNode {
  const { t } = useTranslation();
  const { state, isPaused, setPaused, show } = live;
  const text = isPaused && state === "live" ? "paused" : state;
  return (
    <>
      <span className={classes.live} data-state={text} role="status">
        {text !== "off" && t(`events.tail_${text}`)}
      </span>
      <Button
        variant="subtle"
        size="compact-sm"
        leftSection={
          isPaused ? (
            <IconPlayerPlay size={ICON_SIZE} aria-hidden />
          ) : (
            <IconPlayerPause size={ICON_SIZE} aria-hidden />
          )
        }
        onClick={isPaused ? show : () => setPaused(true)}
      >
        {t(isPaused ? "events.continue" : "events.pause")}
      </Button>
    </>
  );
}

/** Above the rows: shows the events that wait. */
export function WaitingEvents({ live: { waiting, show } }: { readonly live: LiveEvents }): ReactNode {
  const { t } = useTranslation();
  return (
    <div className={classes.waiting} role="status">
      {waiting > 0 && (
        <Button size="compact-sm" onClick={show}>
          {t("events.new", { count: waiting })}
        </Button>
      )}
    </div>
  );
}
