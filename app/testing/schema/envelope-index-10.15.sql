-- Mail's Envelope Index of the V5 to V7 era, macOS 10.13 to 10.15 (data-formats/envelope-index 2): no global data, no
-- summaries, recipients and attachments keyed by message_id. Triggers come from the current ones, see envelope-variants.ts.
CREATE TABLE properties (ROWID INTEGER PRIMARY KEY, key, value, UNIQUE (key));
CREATE TABLE mailboxes (ROWID INTEGER PRIMARY KEY AUTOINCREMENT, url TEXT NOT NULL,
  total_count INTEGER NOT NULL DEFAULT 0, unread_count INTEGER NOT NULL DEFAULT 0, deleted_count INTEGER NOT NULL DEFAULT 0,
  unseen_count INTEGER NOT NULL DEFAULT 0, unread_count_adjusted_for_duplicates INTEGER NOT NULL DEFAULT 0,
  change_identifier TEXT, source INTEGER, alleged_change_identifier TEXT, UNIQUE(url) ON CONFLICT ABORT);
CREATE INDEX mailboxes_source_index ON mailboxes(source);
CREATE TABLE addresses (ROWID INTEGER PRIMARY KEY AUTOINCREMENT, address TEXT COLLATE NOCASE NOT NULL,
  comment TEXT COLLATE BINARY NOT NULL, UNIQUE(address, comment) ON CONFLICT ABORT);
CREATE TABLE subjects (ROWID INTEGER PRIMARY KEY, subject TEXT COLLATE RTRIM, normalized_subject TEXT COLLATE RTRIM);
CREATE INDEX subjects_subject_index ON subjects(subject);
CREATE INDEX subjects_normalized_subject_index ON subjects(normalized_subject);
CREATE TABLE messages (ROWID INTEGER PRIMARY KEY AUTOINCREMENT, message_id, document_id BLOB, in_reply_to,
  remote_id INTEGER, sender INTEGER, subject_prefix TEXT, subject INTEGER, date_sent INTEGER, date_received INTEGER,
  date_created INTEGER, date_last_viewed INTEGER, mailbox INTEGER, remote_mailbox INTEGER, flags INTEGER, read INTEGER,
  flagged INTEGER, size INTEGER, color TEXT, type INTEGER, conversation_id INTEGER DEFAULT -1, snippet TEXT,
  fuzzy_ancestor INTEGER, automated_conversation INTEGER DEFAULT 0, root_status INTEGER DEFAULT -1,
  conversation_position INTEGER DEFAULT -1, deleted INTEGER DEFAULT 0);
CREATE INDEX messages_mailbox_date_received_index ON messages(mailbox, date_received);
CREATE INDEX messages_date_received_index ON messages(date_received);
CREATE INDEX messages_message_id_mailbox_index ON messages(message_id, mailbox);
CREATE INDEX messages_sender_index ON messages(sender);
CREATE INDEX messages_subject_index ON messages(subject);
CREATE INDEX messages_fuzzy_ancestor_index ON messages(fuzzy_ancestor);
CREATE TABLE recipients (ROWID INTEGER PRIMARY KEY, message_id INTEGER NOT NULL, type INTEGER, address_id INTEGER NOT NULL,
  position INTEGER);
CREATE INDEX recipients_message_id_index ON recipients(message_id, position);
CREATE INDEX recipients_address_id_index ON recipients(address_id);
CREATE TABLE labels (message_id INTEGER REFERENCES messages(ROWID) ON DELETE CASCADE,
  mailbox_id INTEGER REFERENCES mailboxes(ROWID) ON DELETE CASCADE, PRIMARY KEY(message_id, mailbox_id)) WITHOUT ROWID;
CREATE INDEX labels_mailbox_id_index ON labels(mailbox_id);
CREATE TABLE attachments (ROWID INTEGER PRIMARY KEY, message_id INTEGER NOT NULL REFERENCES messages(ROWID) ON DELETE CASCADE,
  name TEXT);
CREATE INDEX attachments_message_id_index ON attachments(message_id);
CREATE TABLE threads (message_id INTEGER NOT NULL REFERENCES messages(ROWID) ON DELETE CASCADE, reference, is_originator);
CREATE INDEX threads_message_id_index ON threads(message_id);
CREATE TABLE conversations (conversation_id INTEGER PRIMARY KEY AUTOINCREMENT, flags INTEGER NOT NULL DEFAULT 0);
CREATE TABLE imap_messages (ROWID INTEGER PRIMARY KEY AUTOINCREMENT, message INTEGER REFERENCES messages(ROWID) ON DELETE SET NULL,
  mailbox INTEGER NOT NULL REFERENCES mailboxes(ROWID) ON DELETE CASCADE, flags INTEGER NOT NULL, uid INTEGER NOT NULL);
CREATE TABLE imap_labels (imap_message INTEGER REFERENCES imap_messages(ROWID) ON DELETE CASCADE,
  label INTEGER REFERENCES mailboxes(ROWID) ON DELETE CASCADE, PRIMARY KEY(imap_message, label)) WITHOUT ROWID;
CREATE TABLE duplicates_unread_count (ROWID INTEGER PRIMARY KEY, message_id INTEGER NOT NULL,
  mailbox_id INTEGER NOT NULL REFERENCES mailboxes(ROWID) ON DELETE CASCADE, unread_count INTEGER DEFAULT 0,
  UNIQUE(message_id, mailbox_id));
