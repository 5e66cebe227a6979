import { expect, test } from 'vitest';
import { failures, ProbeFailure, toFailure } from './failure.ts';

/** As scripts know them: a name never changes its code. */
test.each([
  [1, 'EVENT_TIMEOUT NOTIFICATION_TIMEOUT TOOL_ERROR INTERRUPTED'],
  [2, 'FDA_MISSING EVENT_DISABLED CLIENT_NOT_APPROVED FORBIDDEN LIMIT_REACHED AUTH_LOGIN_REQUIRED AUTH_TIMEOUT AUTH_REFRESH_FAILED AUTH_FAILED'],
  [3, `INVALID_ARGS SERVER_URL_UNKNOWN INVALID_URL TOOL_NAME_REQUIRED TOOL_REQUEST_REJECTED CALL_FAILED APP_NOT_RUNNING SOCKET_REFUSED COMMAND_NOT_STARTED CONNECTION_CLOSED SERVER_TIMEOUT
    TLS_CERT_UNTRUSTED TLS_FAILED DNS_LOOKUP_FAILED CONNECTION_REFUSED CONNECTION_RESET HOST_UNREACHABLE HTTP_REDIRECTED HTTP_NOT_FOUND HTTP_ERROR RATE_LIMITED BAD_RESPONSE PROTOCOL_UNSUPPORTED
    PROTOCOL_VIOLATION EXTENSION_NOT_DECLARED EVENT_NOT_FOUND MODE_NOT_OFFERED RESOURCE_NOT_FOUND SUBSCRIPTION_FAILED SUBSCRIPTION_NOT_HONORED SOURCE_UNAVAILABLE SERVER_ERROR INTERNAL_ERROR`],
  [4, 'STREAM_TERMINATED STREAM_DISCONNECTED SUBSCRIPTION_DISCONNECTED'],
  [5, 'EVENT_GAP'],
])('exit %i: %s', (exit, names) => {
  expect(Object.entries(failures).filter(([, kind]) => kind.exit === exit).map(([name]) => name).sort()).toEqual(names.split(/\s+/).sort());
});

test('every failure says what to do next, but for those whose sentence does', () => {
  const silent = Object.entries(failures).filter(([, { hint }]) => hint === null).map(([name]) => name);
  expect(silent.sort()).toEqual(['CALL_FAILED', 'INTERNAL_ERROR', 'INTERRUPTED']);
  for (const { hint } of Object.values(failures)) if (hint !== null) expect(hint).toMatch(/^[\w"].*\.$/);
});

test('what else was thrown is a sentence without its text', () => {
  expect(toFailure(new TypeError('/Users/ada/secret'))).toMatchObject({ code: 'INTERNAL_ERROR', message: 'The probe met a fault of its own.' });
  const failure = new ProbeFailure('EVENT_GAP', 'x');
  expect(toFailure(failure)).toBe(failure);
});
