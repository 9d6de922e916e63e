import "../shell/dialog.css";
import "../shell/palette.css";
import { useDebouncedValue } from "@mantine/hooks";
import { createSpotlight, Spotlight } from "@mantine/spotlight";
import { IconFileText, IconHome } from "@tabler/icons-react";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import { dataOf } from "../../client/api.ts";
import { api } from "../api/client.ts";
import type { Document } from "../api/documents.ts";
import { Mantine } from "../components/mantine.tsx";
import { useTranslation } from "../i18n/use-translation.ts";
import { takeFirst } from "../shell/take-first.ts";
import type { Place } from "./move-document.ts";

const DEBOUNCE_MS = 150;
const FOUND_MAX = 20;
const ICON_SIZE = 16;

const [moveStore, moveSpotlight] = createSpotlight();

interface Props {
  readonly document: Document;
  readonly onMove: (to: Place) => void;
  readonly onClose: () => void;
}

/** Finds the document below which another is moved, or leads to the top level. */
export function MoveDialog({ document, onMove, onClose }: Props): ReactNode {
  const { t } = useTranslation();
  const [query, setQuery] = useState("");
  const [q] = useDebouncedValue(query.trim(), DEBOUNCE_MS);
  const found = useQuery({
    queryKey: ["documents", "move-targets", q],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      dataOf(
        api.GET("/api/v1.0/documents/search", {
          params: { query: { q, page_size: FOUND_MAX, ordering: "-updated_at" } },
          signal,
        }),
      ),
  });
  useEffect(() => moveSpotlight.open(), []);
  const text = query.trim();
  const isCurrent = q === text && !found.isPlaceholderData;
  const targets = (found.data?.results ?? []).filter(
    ({ path, title, abilities }) =>
      abilities.children_create &&
      !path.startsWith(document.path) &&
      // Until the service has responded, nothing is offered that was not asked for.
      (isCurrent || title?.toLowerCase().includes(text.toLowerCase()) === true),
  );
  const top = found.data?.results.map(({ parent, ...own }) => parent ?? own).find(({ depth }) => depth === 1);
  const label = t("move.label", { title: document.title ?? t("app.untitled") });
  return (
    <Mantine>
      <Spotlight
        store={moveStore}
        shortcut={null}
        onSpotlightClose={onClose}
        query={query}
        onQueryChange={setQuery}
        filter={(_query, all) => all}
        actions={[
          ...(document.depth > 1 && top !== undefined && text === ""
            ? [
                {
                  id: "top",
                  label: t("move.top_level"),
                  leftSection: <IconHome size={ICON_SIZE} aria-hidden />,
                  onClick: () => onMove({ target: top, position: "last-sibling" }),
                },
              ]
            : []),
          {
            group: t("move.targets"),
            actions: targets.map((target) => ({
              id: target.id,
              label: target.title ?? t("app.untitled"),
              description: target.parent?.title ?? "",
              leftSection: <IconFileText size={ICON_SIZE} aria-hidden />,
              onClick: () => onMove({ target, position: "last-child" }),
            })),
          },
        ]}
        nothingFound={found.isPending ? "" : t("move.nothing")}
        scrollable
        maxHeight={400}
        transitionProps={{ duration: 0 }}
        attributes={{ content: { "aria-label": label } }}
        searchProps={{ "aria-label": label, placeholder: label, onKeyDown: takeFirst }}
      />
    </Mantine>
  );
}
