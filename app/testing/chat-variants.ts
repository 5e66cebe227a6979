import { columnName, schemaObjects, schemaText, withParts, type SchemaObject } from './schema.ts';

/** Column sets of chat.db (schema/chat-db-columns.json); `13-migrated`, 14 and 15 are those of upgraded machines. */
export type ChatColumns = '10.11' | '10.13' | '10.15' | '11' | '12' | '13' | '13-migrated' | '14' | '15' | '26';
export const CHAT_COLUMNS: readonly ChatColumns[] = ['10.11', '10.13', '10.15', '11', '12', '13', '13-migrated', '14', '15', '26'];

/** `_ClientVersion` where published (10.11, 11, 26), else a number between. */
export const CLIENT_VERSIONS: Record<ChatColumns, number> = {
  '10.11': 9005, '10.13': 11000, '10.15': 13000, '11': 14006, '12': 15000, '13': 16000, '13-migrated': 16000, '14': 17000, '15': 18000, '26': 19602,
};

type Tables = { readonly [table: string]: readonly string[] };

/** First version of tables that are younger than 10.11 (data-formats/chat-db 2). */
const SINCE: { readonly [table: string]: number } = {
  kvtable: 10.13, sync_deleted_messages: 10.13, sync_deleted_chats: 10.13, sync_deleted_attachments: 10.13, message_processing_task: 10.15,
  chat_recoverable_message_join: 13, recoverable_message_part: 13, unsynced_removed_recoverable_messages: 13,
  scheduled_messages_pending_cloudkit_delete: 15, chat_lookup: 26, chat_service: 26, sync_chat_slice: 26, index_state_metrics: 26, persistent_tasks: 26,
};

export function chatSchema(columns: ChatColumns, appleTriggers: boolean): SchemaObject[] {
  const current = schemaObjects('chat-db.sql', ...(appleTriggers ? ['chat-db-apple-triggers.sql'] : []));
  if (columns === '26') return current;
  const version = Number.parseFloat(columns);
  const tables = tablesOf(columns);
  const shaped = current.filter((object) => (SINCE[object.table] ?? 0) <= version).map((object) => shape(object, tables, version));
  const known = new Map<string, Set<string>>();
  for (const object of shaped) {
    if (object.type === 'table') withParts(object, (parts) => (known.set(object.name, new Set(parts.map(columnName))), parts));
  }
  return shaped.filter((object) => fits(object, known));
}

/** A table that a version's sample lacks is the one of the neighbouring version. */
function tablesOf(columns: ChatColumns): Tables {
  const all = JSON.parse(schemaText('chat-db-columns.json')) as { readonly [version: string]: Tables };
  return { ...(CHAT_COLUMNS.indexOf(columns) > CHAT_COLUMNS.indexOf('13') ? all['13'] : {}), ...all[columns] };
}

function shape(object: SchemaObject, tables: Tables, version: number): SchemaObject {
  const listed = object.type === 'table' ? tables[object.name] : undefined;
  if (listed !== undefined) {
    // The lists carry names, types and defaults; keys and references are those of the current table.
    return withParts(object, (parts) => {
      const now = new Map(parts.map((part) => [columnName(part), part]));
      const constraints = parts.filter((part) => /^(UNIQUE|PRIMARY KEY|CHECK)\b/.test(part));
      return [...listed.map((column) => keyed(column, now.get(columnName(column)))), ...constraints];
    });
  }
  if (object.name === 'message_processing_task') return withParts(object, (parts) => parts.filter((part) => columnName(part) !== 'reasons'));
  if (object.type === 'trigger' && version < 13) {
    // Before Recently Deleted, the last join alone decided.
    return { ...object, sql: object.sql.replaceAll(/\s+AND OLD\.message_id NOT IN \(SELECT chat_recoverable_message_join\.[^)]*\)/g, '') };
  }
  return object;
}

function keyed(listed: string, current: string | undefined): string {
  return current !== undefined && /UNIQUE|PRIMARY KEY|REFERENCES/.test(current) ? current : listed;
}

/** Indexes and triggers over columns or tables of later versions did not exist. */
function fits(object: SchemaObject, known: ReadonlyMap<string, ReadonlySet<string>>): boolean {
  const columns = known.get(object.table);
  if (columns === undefined) return false;
  if (object.type === 'index') {
    const words = object.sql.slice(object.sql.indexOf('(')).replaceAll(/'[^']*'/g, '').match(/[a-z_]+/gi) ?? [];
    const keywords = /^(where|is|not|null|and|or|in|between|desc|asc|rowid)$/i;
    return words.every((word) => keywords.test(word) || columns.has(word));
  }
  if (object.type === 'trigger') {
    if (/index_state|chat_service|index_metrics/.test(object.sql)) return false;
    for (const table of Object.keys(SINCE)) if (object.sql.includes(table) && !known.has(table)) return false;
    if (object.sql.includes('message_date') && known.get('chat_message_join')?.has('message_date') !== true) return false;
    return !/OLD\.(ck_record_id|associated_message_guid|balloon_bundle_id)/.test(object.sql) || columns.has('ck_record_id');
  }
  return true;
}
