import { settingKeys } from '../contract/plain-settings.ts';

declare const BELFRY_SHIPPED: boolean | undefined;

const KEY_COLUMN = 62;
/** At most four to a line, below each other. */
const keyLines = (): string => settingKeys.map((key, nth) => (nth > 0 && nth % 4 === 0 ? `\n${' '.repeat(KEY_COLUMN)}${key}` : `${nth > 0 ? ' ' : ''}${key}`)).join(',');

export const HELP = `Usage: belfry COMMAND [--data-dir DIR] [--json]

  serve   --data-dir DIR [--mail-dir DIR] [--messages-db FILE] [--accounts-db FILE] [--address-book-dir DIR]
          [--region CC] [--ui PORT] [--http PORT] [--plain-index]${typeof BELFRY_SHIPPED === 'boolean' && BELFRY_SHIPPED ? '' : ' [--trust-local-clients]\n          [--local-webhooks CA.pem]'}
  events  list | on TYPE | off TYPE                      TYPE: mail.received, messages.received
  senders list | add SENDER... [--for mail|messages] [--subdomains] [--except SENDER] | remove SENDER...
          | add chat:ID... | remove chat:ID...           ID: a chat's id or its exact name
  clients list | allow ID [--events TYPE,...] [--senders SENDER,...] [--grants GRANT,...] [--once] [--code CODE]
          | deny ID | revoke ID | test ID                CODE: of a sign-in, the four digits that its page shows
  tokens  list | create LABEL [--events TYPE,...] [--senders SENDER,...] [--grants GRANT,...] | revoke ID
                                                         for clients that come over HTTP; a new token is shown once
  excluded list | add PLACE... | remove PLACE...         PLACE: an account, or a mailbox with those in it; no client hears of it or reads it
  hosts   list | add HOST... | remove HOST...            HOST: where webhooks may go, such as hooks.example.net
  webhooks list | stop ID
  watches list | stop ID
  waiting list | allow ID [--code CODE] | deny ID        what waits for you: clients, changes, texts that clients wrote
  search  status | rebuild                               the full-text index of mail, and how far it is
  settings get [KEY] | set KEY VALUE                     KEY: ${keyLines()}
  probe   list | poll | wait | watch | call | channel | lab    asks and waits as a client does: belfry probe --help
  pause [DURATION] | resume                              DURATION: 90s, 15m, 2h, 1d; none: until resumed
  status | doctor
  --help | --version

A SENDER is an address (ada@example.com), a domain (@example.org), a number (+15550101234) or a short code.
A GRANT is mail or messages (reading from allowed senders), mail:everything or messages:everything, search,
reply (each text is shown first) or reply:unasked (it is not where your rules allow all members of the chat, or the
sender of the mail that is answered; new drafts open unasked; all else is shown first, also with :everything).
"clients allow" replaces all that the client was allowed before: --grants names every grant that it shall have, --grants none
and no --grants take all of them back.
Exit codes: 0 done, 1 no, 2 not permitted or waiting for the owner, 3 wrong use or no engine, 4 stream ended, 5 gap.
`;
