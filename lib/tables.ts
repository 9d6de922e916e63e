import { accessRequestsTable } from "./documents/tables/access-requests.ts";
import { accessesTable, relationsTable } from "./documents/tables/accesses.ts";
import { aiUsageTable } from "./documents/tables/ai-usage.ts";
import {
  attachmentsTable,
  attachmentUsageTable,
  documentAttachmentsTable,
} from "./documents/tables/attachments.ts";
import { awarenessTable } from "./documents/tables/awareness.ts";
import { changesTable, countsTable } from "./documents/tables/changes.ts";
import { ticketsTable } from "./documents/tables/collaboration-tickets.ts";
import { childrenTable, documentsTable } from "./documents/tables/documents.ts";
import { exportsTable } from "./documents/tables/exports.ts";
import { importsTable } from "./documents/tables/imports.ts";
import { invitationsTable, invitedTable } from "./documents/tables/invitations.ts";
import { loginLinksTable } from "./documents/tables/login-links.ts";
import { loginStatesTable } from "./documents/tables/login-states.ts";
import { mailsTable } from "./documents/tables/mails.ts";
import { notificationsTable } from "./documents/tables/notifications.ts";
import { nodesTable, roomsTable } from "./documents/tables/room-leases.ts";
import { sessionEntriesTable, sessionsTable } from "./documents/tables/sessions.ts";
import { commentsTable, threadsTable } from "./documents/tables/threads.ts";
import { updatesTable } from "./documents/tables/updates.ts";
import {
  accessTokensTable,
  tokenEntriesTable,
  userDirectoryTable,
  userIdentitiesTable,
  usersTable,
} from "./documents/tables/users.ts";
import { versionsTable } from "./documents/tables/versions.ts";
import { eventLogTable, eventTailTable } from "./events/log/table.ts";
import { postingsTable, textsTable } from "./platform/full-text-tables.ts";
import { timersTable } from "./platform/timers-table.ts";
import { rankedIndexTable } from "./ranked-index/table.ts";
import { artifactsTable } from "./workflows/artifacts/table.ts";
import { facetsTable } from "./workflows/assets/facets.ts";
import { assetsTable } from "./workflows/assets/table.ts";
import { deadLettersTable } from "./workflows/dead-letters/table.ts";
import { diffsTable } from "./workflows/diffs/table.ts";
import { serviceTable } from "./workflows/installation/table.ts";
import { countersTable, listEntriesTable } from "./workflows/lists/table.ts";
import { historyTable, runNamesTable, runQueueTable, runsTable, stepsTable } from "./workflows/runs/table.ts";
import { catalogTable, revisionsTable, workflowsTable } from "./workflows/store/table.ts";
import { schedulesTable, triggerStateTable } from "./workflows/store/trigger-tables.ts";
import { valuesTable } from "./workflows/values/table.ts";
import { vulnerabilitiesTable, vulnerabilityIdentitiesTable } from "./workflows/vulnerabilities/table.ts";
import { workspacesTable } from "./workflows/workspaces/table.ts";
import { workspaceRecordsTable } from "./workflows/workspaces/workspace-records.ts";

/** Every table: the source of the DynamoDB resources and the embedded tables. */
export const tables = {
  eventLog: eventLogTable,
  eventTail: eventTailTable,
  rankedIndex: rankedIndexTable,
  workflows: workflowsTable,
  revisions: revisionsTable,
  catalog: catalogTable,
  runs: runsTable,
  steps: stepsTable,
  history: historyTable,
  values: valuesTable,
  counters: countersTable,
  schedules: schedulesTable,
  triggerState: triggerStateTable,
  timers: timersTable,
  assets: assetsTable,
  assetFacets: facetsTable,
  vulnerabilities: vulnerabilitiesTable,
  vulnerabilityIdentities: vulnerabilityIdentitiesTable,
  artifacts: artifactsTable,
  workspaceRecords: workspaceRecordsTable,
  deadLetters: deadLettersTable,
  diffs: diffsTable,
  listEntries: listEntriesTable,
  service: serviceTable,
  workspaces: workspacesTable,
  runNames: runNamesTable,
  runQueue: runQueueTable,
  users: usersTable,
  userIdentities: userIdentitiesTable,
  userDirectory: userDirectoryTable,
  accessTokens: accessTokensTable,
  accessTokenEntries: tokenEntriesTable,
  fullTextEntries: textsTable,
  fullTextPostings: postingsTable,
  documents: documentsTable,
  documentChildren: childrenTable,
  documentAccesses: accessesTable,
  documentRelations: relationsTable,
  documentVersions: versionsTable,
  documentUpdates: updatesTable,
  documentAwareness: awarenessTable,
  documentAiUsage: aiUsageTable,
  attachments: attachmentsTable,
  attachmentUsage: attachmentUsageTable,
  documentAttachments: documentAttachmentsTable,
  documentImports: importsTable,
  documentMails: mailsTable,
  notifications: notificationsTable,
  documentInvitations: invitationsTable,
  documentInvited: invitedTable,
  documentAccessRequests: accessRequestsTable,
  documentChanges: changesTable,
  documentChangeCounts: countsTable,
  collaborationTickets: ticketsTable,
  collaborationNodes: nodesTable,
  collaborationRooms: roomsTable,
  documentExports: exportsTable,
  documentThreads: threadsTable,
  documentComments: commentsTable,
  documentLoginStates: loginStatesTable,
  documentSessions: sessionsTable,
  documentSessionEntries: sessionEntriesTable,
  documentLoginLinks: loginLinksTable,
};
