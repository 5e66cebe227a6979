-- Triggers that call functions of Apple's persistence process (data-formats/chat-db 12). They load anywhere, but a
-- writer must register stand-ins for the functions first; a reader never fires them.
CREATE TRIGGER verify_chat_insert BEFORE INSERT ON chat BEGIN SELECT verify_chat(NEW.guid); END;
CREATE TRIGGER verify_chat_update BEFORE UPDATE OF guid ON chat BEGIN SELECT verify_chat(NEW.guid); END;
CREATE TRIGGER before_delete_on_attachment BEFORE DELETE ON attachment BEGIN SELECT before_delete_attachment_path(OLD.ROWID, OLD.guid); END;
CREATE TRIGGER after_delete_on_attachment AFTER DELETE ON attachment BEGIN SELECT delete_attachment_path(OLD.filename); END;
CREATE TRIGGER after_delete_on_message_plugin AFTER DELETE ON message WHEN OLD.balloon_bundle_id IS NOT NULL BEGIN SELECT after_delete_message_plugin(OLD.ROWID, OLD.guid); END;
CREATE TRIGGER before_deleting_chat_delete_chat_background_trigger BEFORE DELETE ON chat BEGIN SELECT delete_chat_background_before_deleting_chat(OLD.guid, OLD.properties); END;
