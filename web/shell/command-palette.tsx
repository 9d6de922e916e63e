import "./dialog.css";
import "./palette.css";
import { useDebouncedValue } from "@mantine/hooks";
import { createSpotlight, Spotlight, type SpotlightActionGroupData } from "@mantine/spotlight";
import { IconPlus, IconSearch } from "@tabler/icons-react";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { useLocation } from "wouter";
import { dataOf } from "../../client/api.ts";
import { api } from "../api/client.ts";
import { useCreateDocument } from "../api/documents.ts";
import { Mantine } from "../components/mantine.tsx";
import { FoundDocumentView, pathOfFound } from "./found-document.tsx";
import { NAVIGATION } from "./navigation.ts";
import { takeFirst } from "./take-first.ts";

const DOCUMENTS_MAX = 8;
const DEBOUNCE_MS = 150;
const ICON_SIZE = 16;

const [paletteStore, palette] = createSpotlight();

interface Props {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

/** Finds pages, actions and documents. */
export function CommandPalette({ isOpen, onClose }: Props): ReactNode {
  const { t } = useTranslation();
  const [, navigate] = useLocation();
  const create = useCreateDocument();
  const [query, setQuery] = useState("");
  const [q] = useDebouncedValue(query.trim(), DEBOUNCE_MS);
  const found = useQuery({
    queryKey: ["documents", "search", q],
    enabled: q !== "",
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      dataOf(
        api.GET("/api/v1.0/documents/search", { params: { query: { q, page_size: DOCUMENTS_MAX } }, signal }),
      ),
  });
  useEffect(() => {
    if (isOpen) palette.open();
  }, [isOpen]);
  const text = query.trim();
  const isMatch = (label: string): boolean => label.toLowerCase().includes(text.toLowerCase());
  // Until the service has responded, nothing is offered that was not asked for.
  const isCurrent = q === text && !found.isPlaceholderData;
  const documents =
    text === "" ? [] : (found.data?.results ?? []).filter(({ title }) => isCurrent || isMatch(title ?? ""));
  const actions: SpotlightActionGroupData[] = [
    {
      group: t("palette.pages"),
      actions: NAVIGATION.map(({ path, title, icon: Icon }) => ({
        id: path,
        label: t(title),
        leftSection: <Icon size={ICON_SIZE} aria-hidden />,
        onClick: () => navigate(path),
      })).filter(({ label }) => isMatch(label)),
    },
    {
      group: t("palette.actions"),
      actions: [
        {
          id: "create",
          label: t("app.new_document"),
          leftSection: <IconPlus size={ICON_SIZE} aria-hidden />,
          onClick: () => create.mutate(),
        },
      ].filter(({ label }) => isMatch(label)),
    },
    {
      group: t("palette.documents"),
      actions: documents.map((document) => ({
        id: document.id,
        children: <FoundDocumentView found={document} />,
        onClick: () => navigate(pathOfFound(document)),
      })),
    },
  ].filter((group) => group.actions.length > 0);
  return (
    <Mantine>
      <Spotlight
        store={paletteStore}
        shortcut={null}
        onSpotlightClose={onClose}
        query={query}
        onQueryChange={setQuery}
        // The service has found the documents; the rest is filtered above.
        filter={(_query, all) => all}
        actions={actions}
        nothingFound={t("palette.nothing")}
        scrollable
        maxHeight={400}
        transitionProps={{ duration: 0 }}
        attributes={{ content: { "aria-label": t("app.search") } }}
        searchProps={{
          onKeyDown: takeFirst,
          "aria-label": t("app.search"),
          placeholder: t("palette.placeholder"),
          leftSection: <IconSearch size={ICON_SIZE} aria-hidden />,
        }}
      />
    </Mantine>
  );
}
