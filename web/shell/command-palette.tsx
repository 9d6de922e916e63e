import "./dialog.css";
import "./palette.css";
import { useDebouncedValue } from "@mantine/hooks";
import { createSpotlight, Spotlight, type SpotlightActionGroupData } from "@mantine/spotlight";
import { IconBolt, IconPlayerPlay, IconPlus, IconRoute, IconSearch } from "@tabler/icons-react";
import { type ReactNode, useEffect, useState } from "react";
import { useLocation } from "wouter";
import { documentIdOf, useCreateDocument } from "../api/documents.ts";
import { stateOf } from "../api/runs.ts";
import { workflowPath } from "../api/workflows.ts";
import { Button } from "../components/button.tsx";
import { Mantine } from "../components/mantine.tsx";
import { State } from "../components/state.tsx";
import { useTranslation } from "../i18n/use-translation.ts";
import { FoundDocumentView, pathOfFound } from "./found-document.tsx";
import { NAVIGATION } from "./navigation.ts";
import { useFoundDocuments, useFoundRuns, useFoundWorkflows } from "./palette-search.ts";
import { takeFirst } from "./take-first.ts";

const DEBOUNCE_MS = 150;
const ICON_SIZE = 16;
const SCOPE_WIDTH = 150;

const [paletteStore, palette] = createSpotlight();

interface Props {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

/** Finds pages, actions, documents, workflows and runs. */
export function CommandPalette({ isOpen, onClose }: Props): ReactNode {
  const { t } = useTranslation();
  const [path, navigate] = useLocation();
  const open = documentIdOf(path.replace(/^\/d\//, ""));
  // The document to which the search is limited, while it is open.
  const [scope, setScope] = useState<string>();
  const inside = scope === open ? scope : undefined;
  const create = useCreateDocument();
  const [query, setQuery] = useState("");
  const [q] = useDebouncedValue(query.trim(), DEBOUNCE_MS);
  const found = useFoundDocuments(q, inside);
  const workflows = useFoundWorkflows(q);
  const runs = useFoundRuns(q);
  useEffect(() => {
    if (isOpen) palette.open();
  }, [isOpen]);
  const text = query.trim();
  const isMatch = (label: string): boolean => label.toLowerCase().includes(text.toLowerCase());
  // Until the service has responded, nothing is offered that was not asked for.
  const isFound = ({ isPlaceholderData }: { readonly isPlaceholderData: boolean }): boolean =>
    q === text && !isPlaceholderData;
  const documents =
    text === ""
      ? []
      : (found.data?.results ?? []).filter(({ title }) => isFound(found) || isMatch(title ?? ""));
  const documentGroup: SpotlightActionGroupData = {
    group: t("palette.documents"),
    actions: documents.map((document) => ({
      id: document.id,
      children: <FoundDocumentView found={document} />,
      onClick: () => navigate(pathOfFound(document)),
    })),
  };
  const groups: SpotlightActionGroupData[] = [
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
        {
          id: "new-workflow",
          label: t("palette.new_workflow"),
          leftSection: <IconRoute size={ICON_SIZE} aria-hidden />,
          onClick: () => navigate("/new-workflow"),
        },
        {
          id: "send-event",
          label: t("palette.send_event"),
          leftSection: <IconBolt size={ICON_SIZE} aria-hidden />,
          onClick: () => navigate("/send-event"),
        },
      ].filter(({ label }) => isMatch(label)),
    },
    documentGroup,
    {
      group: t("navigation.workflows"),
      actions: (text === "" ? [] : (workflows.data?.data ?? []))
        .filter(({ name }) => isFound(workflows) || isMatch(name))
        .map(({ name }) => ({
          id: `workflow ${name}`,
          label: name,
          leftSection: <IconRoute size={ICON_SIZE} aria-hidden />,
          onClick: () => navigate(workflowPath(name)),
        })),
    },
    {
      group: t("navigation.runs"),
      actions: (text === "" ? [] : (runs.data?.data ?? []))
        .filter(({ target }) => isFound(runs) || isMatch(target))
        .map((run) => ({
          id: run.run_uuid,
          label: `${run.workflow_name} · ${run.target}`,
          leftSection: <IconPlayerPlay size={ICON_SIZE} aria-hidden />,
          rightSection: <State name={stateOf(run)} />,
          onClick: () => navigate(`/runs/${run.run_uuid}`),
        })),
    },
  ];
  const actions = (inside === undefined ? groups : [documentGroup]).filter(
    (group) => group.actions.length > 0,
  );
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
        overlayProps={{ blur: 0 }}
        attributes={{ content: { "aria-label": t("app.search") } }}
        searchProps={{
          onKeyDown: takeFirst,
          "aria-label": t("app.search"),
          placeholder: t("palette.placeholder"),
          leftSection: <IconSearch size={ICON_SIZE} aria-hidden />,
          ...(open !== undefined && {
            rightSectionWidth: SCOPE_WIDTH,
            rightSectionPointerEvents: "all",
            rightSection: (
              <Button
                size="compact-sm"
                variant={inside === undefined ? "default" : "filled"}
                aria-pressed={inside !== undefined}
                title={t("palette.inside_hint")}
                onClick={() => setScope(inside === undefined ? open : undefined)}
              >
                {t("palette.inside")}
              </Button>
            ),
          }),
        }}
      />
    </Mantine>
  );
}
