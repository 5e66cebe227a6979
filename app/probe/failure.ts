/** Exit codes of the command (architecture 3). */
export type Exit = 0 | 1 | 2 | 3 | 4 | 5;

interface Kind {
  readonly exit: Exit;
  /** What to do next, for whoever ran the command; null where the message says it. */
  readonly hint: string | null;
}

/** Every way in which a probe ends without what was asked for. Scripts rely on these names: they are only ever added to. */
export const failures = {
  EVENT_TIMEOUT: { exit: 1, hint: 'Nothing fitting came in time. Wait again with the final cursor.' },
  NOTIFICATION_TIMEOUT: { exit: 1, hint: 'Nothing came in time. Give a longer --timeout-ms.' },
  TOOL_ERROR: { exit: 1, hint: 'The tool ran and failed; its content says why.' },
  INTERRUPTED: { exit: 1, hint: null },

  FDA_MISSING: { exit: 2, hint: 'Give Belfry Full Disk Access in System Settings > Privacy & Security.' },
  EVENT_DISABLED: { exit: 2, hint: 'Ask the owner to turn the event on: belfry events on TYPE.' },
  CLIENT_NOT_APPROVED: { exit: 2, hint: 'The owner sees this client under Waiting for you. Run the command again once it is allowed.' },
  FORBIDDEN: { exit: 2, hint: 'The owner or the server does not allow this client.' },
  LIMIT_REACHED: { exit: 2, hint: 'Close other streams of this client, then try again.' },
  AUTH_LOGIN_REQUIRED: { exit: 2, hint: 'Run it once with --login, or put a token into MCP_PROBE_AUTH_TOKEN.' },
  AUTH_TIMEOUT: { exit: 2, hint: 'The login was not finished in time. Try again, with a longer --timeout-ms.' },
  AUTH_REFRESH_FAILED: { exit: 2, hint: 'The cached token could not be renewed just now. Try again, or run it with --login.' },
  AUTH_FAILED: { exit: 2, hint: 'Log in again, or get another token.' },

  INVALID_ARGS: { exit: 3, hint: 'See belfry probe --help.' },
  SERVER_URL_UNKNOWN: { exit: 3, hint: 'Name the server with --url or in MCP_PROBE_URL.' },
  INVALID_URL: { exit: 3, hint: 'Write the whole address, such as https://mcp.example.com/mcp.' },
  TOOL_NAME_REQUIRED: { exit: 3, hint: 'Name the tool with --tool.' },
  TOOL_REQUEST_REJECTED: { exit: 3, hint: 'The tool did not run. Check its name and its arguments.' },
  CALL_FAILED: { exit: 3, hint: null },
  APP_NOT_RUNNING: { exit: 3, hint: 'Open Belfry, or start "belfry serve" with the same --data-dir.' },
  SOCKET_REFUSED: { exit: 3, hint: 'Run it as the user whose Belfry it is, and with an installed app through its helper: belfry-mcp probe.' },
  COMMAND_NOT_STARTED: { exit: 3, hint: 'Check the program of --command and its path.' },
  CONNECTION_CLOSED: { exit: 3, hint: 'The server ended before it answered; what it wrote to stderr may say why.' },
  SERVER_TIMEOUT: { exit: 3, hint: 'The server took the connection and did not answer. Give a longer --timeout-ms, or look at the server.' },
  TLS_CERT_UNTRUSTED: { exit: 3, hint: 'Put the authority of the certificate into a file and its path into NODE_EXTRA_CA_CERTS.' },
  TLS_FAILED: { exit: 3, hint: 'Check that the port speaks https, and which TLS versions it takes.' },
  DNS_LOOKUP_FAILED: { exit: 3, hint: 'Check the name of the host and the network.' },
  CONNECTION_REFUSED: { exit: 3, hint: 'Nothing listens at this port. Check the port and that the server runs.' },
  CONNECTION_RESET: { exit: 3, hint: 'The server or something between broke the connection off. Try again.' },
  HOST_UNREACHABLE: { exit: 3, hint: 'Check the network, a VPN and the firewall.' },
  HTTP_REDIRECTED: { exit: 3, hint: 'Redirects are not followed, since a token would go along. Use the address that it names, if you trust it.' },
  HTTP_NOT_FOUND: { exit: 3, hint: 'Check the path of the address; MCP servers often serve /mcp.' },
  HTTP_ERROR: { exit: 3, hint: 'Check that the address is an MCP endpoint, and the log of the server.' },
  RATE_LIMITED: { exit: 3, hint: 'Wait before the next try.' },
  BAD_RESPONSE: { exit: 3, hint: 'What answered does not speak MCP. Check the address or the program.' },
  PROTOCOL_UNSUPPORTED: { exit: 3, hint: 'The server speaks no protocol revision that this needs. Try --era auto, or update the server.' },
  PROTOCOL_VIOLATION: { exit: 3, hint: 'The server breaks a rule of the protocol. Report it to its authors.' },
  EXTENSION_NOT_DECLARED: { exit: 3, hint: 'The server does not offer this. "belfry probe list" says what it declares.' },
  EVENT_NOT_FOUND: { exit: 3, hint: 'Names of events: belfry probe list.' },
  MODE_NOT_OFFERED: { exit: 3, hint: 'belfry probe list says how each event is delivered.' },
  RESOURCE_NOT_FOUND: { exit: 3, hint: 'Check the URI; for one that is not listed give --skip-list.' },
  SUBSCRIPTION_FAILED: { exit: 3, hint: 'The server does not offer updates of this resource.' },
  SUBSCRIPTION_NOT_HONORED: { exit: 3, hint: 'The server took the subscription without this resource. It may not be there for you.' },
  SOURCE_UNAVAILABLE: { exit: 3, hint: 'The store cannot be read just now. "belfry doctor" says more.' },
  SERVER_ERROR: { exit: 3, hint: 'The server met a fault of its own; its log may say more.' },
  INTERNAL_ERROR: { exit: 3, hint: null },

  STREAM_TERMINATED: { exit: 4, hint: 'The server ended the subscription for good. List the events again before a new one.' },
  STREAM_DISCONNECTED: { exit: 4, hint: 'Wait again with the final cursor.' },
  SUBSCRIPTION_DISCONNECTED: { exit: 4, hint: 'Watch again; what changed meanwhile is seen by the first reading.' },

  EVENT_GAP: { exit: 5, hint: 'Something may have been missed before the final cursor. Read it another way, then wait again.' },
} as const satisfies Readonly<Record<string, Kind>>;

export type ErrorName = keyof typeof failures;

/** Why a probe stopped. The message is a whole sentence; it may quote the server, so it is cleaned where it is written. */
export class ProbeFailure extends Error {
  readonly code: ErrorName;
  /** Better than the table's, where more is known. */
  readonly hint: string | null;

  constructor(code: ErrorName, message: string, hint: string | null = failures[code].hint) {
    super(message);
    this.name = 'ProbeFailure';
    this.code = code;
    this.hint = hint;
  }

  get exit(): Exit {
    return failures[this.code].exit;
  }
}

/** What else was thrown is a fault of ours: its text may hold anything and is not shown. */
export const toFailure = (error: unknown): ProbeFailure =>
  error instanceof ProbeFailure ? error : new ProbeFailure('INTERNAL_ERROR', 'The probe met a fault of its own.');

/** Which of several waits noticed it first says nothing: with a subscription open, its loss is what happened. */
export const isLoss = (error: unknown): error is ProbeFailure =>
  error instanceof ProbeFailure && (error.code === 'CONNECTION_CLOSED' || error.code === 'CONNECTION_RESET');

/** A status of HTTP that is no answer of MCP. */
export class HttpFailure extends ProbeFailure {
  readonly status: number;

  constructor(code: ErrorName, status: number, message: string, hint?: string) {
    super(code, message, hint);
    this.status = status;
  }

  /** Older servers refuse a request that they do not know by its status alone. */
  get mayBeOlder(): boolean {
    return [400, 404, 405, 406, 415, 422].includes(this.status);
  }
}
