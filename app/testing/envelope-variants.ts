import { columnName, schemaObjects, withParts, type SchemaObject } from './schema.ts';

/** Shapes of the Envelope Index (data-formats/envelope-index 2 and the variants listed in its DDL). */
export type MailVariant = 'macos26' | 'macos26-migrated' | 'macos15' | 'macos12' | 'macos10.15';
export const MAIL_VARIANTS: readonly MailVariant[] = ['macos26', 'macos26-migrated', 'macos15', 'macos12', 'macos10.15'];

/** `properties` rows of each shape; numbers of 12 and 10.15 are not published, these are stand-ins. */
export const MAIL_VERSIONS: Record<MailVariant, { minor: number; framework: string }> = {
  macos26: { minor: 84003, framework: '3864.600.51.1.1' },
  'macos26-migrated': { minor: 84003, framework: '3864.600.51.1.1' },
  macos15: { minor: 74003, framework: '3826.700.81' },
  macos12: { minor: 40003, framework: '3696.120.41' },
  'macos10.15': { minor: 12003, framework: '3608.120.23' },
};

export function envelopeSchema(variant: MailVariant): SchemaObject[] {
  const current = schemaObjects('envelope-index.sql');
  switch (variant) {
    case 'macos26':
      return current;
    case 'macos26-migrated':
      return current.map(migrated);
    case 'macos15':
      return current.filter(
        (object) =>
          !object.table.startsWith('indexing_analytics_') && object.table !== 'brand_indicator_evidence' &&
          object.name !== 'messages_is_urgent_deleted_conversation_id_is_urgent_1_deleted_0_index',
      );
    case 'macos12':
      return current.flatMap(monterey);
    case 'macos10.15':
      return [...schemaObjects('envelope-index-10.15.sql'), ...current.filter((object) => object.type === 'trigger').map(catalina)];
  }
}

/** Columns that an upgrade appended stand at the end; the global table has other ones. */
function migrated(object: SchemaObject): SchemaObject {
  if (object.type !== 'table') return object;
  if (object.name === 'messages') return withParts(object, (parts) => atEnd(parts, ['flag_color', 'is_urgent']));
  if (object.name === 'message_global_data') {
    return withParts(object, (parts) => {
      const kept = parts.filter((part) => columnName(part) !== 'download_state');
      const unique = kept.filter((part) => part.startsWith('UNIQUE'));
      const columns = atEnd(kept.filter((part) => !part.startsWith('UNIQUE')), ['message_id_header']);
      return [...columns, 'due_by INTEGER', ...unique];
    });
  }
  return object;
}

function atEnd(parts: readonly string[], names: readonly string[]): string[] {
  const last = names.map((name) => parts.find((part) => columnName(part) === name) ?? '');
  return [...parts.filter((part) => !names.includes(columnName(part))), ...last];
}

const AFTER_MONTEREY = new Set(['flag_color', 'is_urgent']);
const LATER_TABLES = /^(businesses|business_|generated_summaries|brand_indicator_evidence|indexing_analytics_|message_metadata|searchable_data_detection|protected_message_data)/;

/** Global data ends at the send-later date; no flag colour, no urgency, no tables of 13 and later. */
function monterey(object: SchemaObject): SchemaObject[] {
  if (LATER_TABLES.test(object.table)) return [];
  if (object.type === 'table' && object.name === 'messages') {
    return [withParts(object, (parts) => parts.filter((part) => !AFTER_MONTEREY.has(columnName(part))))];
  }
  if (object.type === 'table' && object.name === 'message_global_data') {
    return [
      withParts(object, (parts) => {
        const end = parts.findIndex((part) => columnName(part) === 'send_later_date');
        return [...parts.slice(0, end + 1), ...parts.filter((part) => part.startsWith('UNIQUE'))];
      }),
    ];
  }
  if (object.type !== 'index') return [object];
  if (/flag_color|is_urgent|model_category|validation_state/.test(object.sql)) return [];
  if (object.name === 'messages_searchable_message_deleted_date_received_index') {
    const name = 'messages_searchable_message_deleted_index';
    return [{ ...object, name, sql: `CREATE INDEX ${name} ON messages(searchable_message, deleted)` }];
  }
  return [object];
}

/** The older triggers test for NULL where the current ones test for 0, and know fewer orphans. */
function catalina(trigger: SchemaObject): SchemaObject {
  const sql = trigger.sql
    .replaceAll(/(\b[\w.]*message_id) = 0\b/g, '$1 ISNULL')
    .replaceAll(/(\b[\w.]*message_id) != 0\b/g, '$1 NOTNULL')
    .replaceAll(/NULLIF\(([\w.]*message_id), 0\)/g, '$1')
    .replaceAll('FROM recipients WHERE address =', 'FROM recipients WHERE address_id =')
    .split('\n')
    .filter((line) => !/DELETE FROM (message_global_data|summaries|brand_indicators)/.test(line))
    .join('\n');
  return { ...trigger, sql };
}
