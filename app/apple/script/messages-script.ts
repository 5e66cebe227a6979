import { OTHER_MEMBERS, type ScriptAnswer, type ScriptRunner } from './osascript.ts';
import { BEGINS, writingScript } from './writing-script.ts';

const SEND_MS = 8000;

/**
 * AppleScript and not JavaScript for Automation: Apple documents Messages' and Mail's terms in it, and JavaScript's
 * bridge cannot name a chat by its id. A chat for one person is counted once more by Messages itself.
 */
const SEND = writingScript(`		set {theChat, theText, isGroup} to {item 1 of argv, item 2 of argv, item 3 of argv}
		tell application "Messages"
			with timeout of 7 seconds
				set theTarget to chat id theChat
				if isGroup is "0" then
					set others to 1
					try
						set others to count of participants of theTarget
					end try
					if others > 1 then error "This chat is a group." number ${OTHER_MEMBERS}
				end if
				${BEGINS}
				send theText to theTarget
			end timeout
		end tell
`, 'sent');

/** Sends a text to a chat of Messages. @param chat the guid of its row */
export const sendToChat = (runner: ScriptRunner, chat: string, text: string, isGroup: boolean): Promise<ScriptAnswer> =>
  runner.run(SEND, [chat, text, isGroup ? '1' : '0'], SEND_MS);
