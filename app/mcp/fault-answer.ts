import { ProtocolError } from '@modelcontextprotocol/server';
import { ErrorCode } from '../events/errors.ts';
import { issueSentence, type Issue } from './issue-sentence.ts';

const UNEXPECTED = 'Belfry met an unexpected fault';

/**
 * The answer to a request whose handler threw (architecture 7): a known error as it is; parameters of another form as
 * -32602 with the place and the rule; anything else as a fixed sentence, told to the log.
 */
export function faultAnswer(error: unknown, fault: (error: unknown) => void): ProtocolError {
  const issues = error instanceof Error ? issuesOf(error) : null;
  if (issues !== null) return new ProtocolError(ErrorCode.invalidParams, issueSentence(withoutParams(issues[0]!), 'params'));
  if (error instanceof ProtocolError && !isDump(error.message)) return error;
  fault(error);
  return new ProtocolError(ErrorCode.internal, UNEXPECTED);
}

/** The SDK says what its schemas found in a request as JSON in the message of an error that is nothing else. */
function issuesOf(error: Error): readonly Issue[] | null {
  if (error.name !== 'Error' && !error.message.startsWith('Invalid tools/call request: ')) return null;
  try {
    const issues: unknown = JSON.parse(error.message.replace(/^Invalid tools\/call request: /, ''));
    return Array.isArray(issues) && issues.length > 0 && issues.every((each) => isIssue(each)) ? issues : null;
  } catch {
    return null;
  }
}

function isIssue(value: unknown): value is Issue {
  const { path, message } = (value ?? {}) as Partial<Issue>;
  return Array.isArray(path) && typeof message === 'string';
}

const isDump = (message: string): boolean => /[[{]\s*[{"]/.test(message);

const withoutParams = (issue: Issue): Issue => (issue.path[0] === 'params' ? { ...issue, path: issue.path.slice(1) } : issue);
