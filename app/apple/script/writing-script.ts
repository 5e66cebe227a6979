import { BEFORE_WRITING, SINCE_WRITING } from './osascript.ts';

/** Stands in a body right before the first statement that makes the app write. */
export const BEGINS = 'set hasBegun to true';

/**
 * A script that writes. It says itself whether it had come to `BEGINS` when an error ended it: an app's own number does
 * not tell, and what an app says of an error may hold anything, so neither is passed on but the number, as text.
 * @param body what is done, with `BEGINS` in it; it may use `argv`
 * @param word what it says once all is done
 */
export const writingScript = (body: string, word: string): string => `on run argv
	set hasBegun to false
	try
${body}	on error theReason number theNumber
		if hasBegun then error (theNumber as text) number ${SINCE_WRITING}
		error (theNumber as text) number ${BEFORE_WRITING}
	end try
	return "${word}"
end run
`;
