import { OTHER_MAIL, type ScriptAnswer, type ScriptRunner } from './osascript.ts';
import { BEGINS, writingScript } from './writing-script.ts';

const DRAFT_MS = 8000;
/** A server may have to be asked. */
const TEXT_MS = 15_000;

/** A mail as Mail itself knows it: the row's number is its id there. */
export interface MailPlaceInApp {
  readonly rowid: number;
  readonly accountId: string;
  /** Path of the mailbox. */
  readonly path: string;
  /** Message-ID header as the index has it, or null. */
  readonly messageId: string | null;
}

/** The first five arguments name the mail; another one under the same number is refused by its Message-ID. */
const FIND = `				set {theAccount, thePath, theRow, theHeader} to {item 1 of argv, item 2 of argv, (item 3 of argv) as integer, item 4 of argv}
				try
					set theBox to mailbox thePath of (first account whose id is theAccount)
				on error
					-- A mailbox on this Mac belongs to no account.
					set theBox to mailbox thePath
				end try
				set theMail to first message of theBox whose id is theRow
				if theHeader is not "" and message id of theMail is not theHeader then error "Another mail has this number." number ${OTHER_MAIL}
`;

/** Asking first for something harmless lets the system refuse, or Mail start, before anything is written. */
const NEW = writingScript(`		set {theSubject, theText, toCount, lastOne} to {item 1 of argv, item 2 of argv, (item 3 of argv) as integer, count of argv}
		tell application "Mail"
			with timeout of 7 seconds
				count of outgoing messages
				${BEGINS}
				set theDraft to make new outgoing message with properties {subject:theSubject, content:theText, visible:true}
				repeat with n from 4 to lastOne
					set theAddress to item n of argv
					if n is less than or equal to 3 + toCount then
						tell theDraft to make new to recipient at end of to recipients with properties {address:theAddress}
					else
						tell theDraft to make new cc recipient at end of cc recipients with properties {address:theAddress}
					end if
				end repeat
			end timeout
		end tell
`, 'opened');

const ANSWER = writingScript(`		tell application "Mail"
			with timeout of 7 seconds
${FIND}				set theText to item 5 of argv
				${BEGINS}
				set theDraft to reply theMail opening window true reply to all (item 6 of argv is "1")
				set content of theDraft to theText & return & return & (content of theDraft)
			end timeout
		end tell
`, 'opened');

/** Asking for the content makes Mail download it. The read mark is neither asked for nor set. */
const TEXT = `on run argv
	if application "Mail" is not running then error "Mail is not running." number -600
	tell application "Mail"
		with timeout of 14 seconds
${FIND}				return content of theMail
		end timeout
	end tell
end run
`;

/** Opens a new draft in Mail. Nothing is sent. */
export const openDraft = (runner: ScriptRunner, draft: { readonly to: readonly string[]; readonly cc: readonly string[]; readonly subject: string; readonly text: string }): Promise<ScriptAnswer> =>
  runner.run(NEW, [draft.subject, draft.text, String(draft.to.length), ...draft.to, ...draft.cc], DRAFT_MS);

/** Opens an answer to a mail as a draft in Mail. Nothing is sent. @param all to everyone whom the mail names */
export const openAnswer = (runner: ScriptRunner, mail: MailPlaceInApp, text: string, all: boolean): Promise<ScriptAnswer> =>
  runner.run(ANSWER, [...placeOf(mail), text, all ? '1' : '0'], DRAFT_MS);

/** The text of a mail that may not be on this Mac, as Mail gives it. Mail must run: it is not started for this. */
export const textThroughMail = (runner: ScriptRunner, mail: MailPlaceInApp): Promise<ScriptAnswer> => runner.run(TEXT, placeOf(mail), TEXT_MS);

const placeOf = ({ accountId, path, rowid, messageId }: MailPlaceInApp): string[] => [accountId, path, String(rowid), (messageId ?? '').replace(/^<|>$/g, '')];
