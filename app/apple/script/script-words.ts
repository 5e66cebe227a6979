import type { ScriptFault } from './osascript.ts';

/** Why a script did not do its work, for whoever asked. What may have happened nevertheless is said by the caller. */
export function faultSentence(fault: ScriptFault, app: 'Mail' | 'Messages'): string {
  switch (fault) {
    case 'not-permitted':
      return `macOS does not let Belfry control ${app}. The owner can turn it on in System Settings > Privacy & Security > Automation.`;
    case 'not-running':
      return `${app} is not running.`;
    case 'not-found':
      return app === 'Messages' ? 'Messages does not have this chat any more.' : 'Mail does not have this mail any more.';
    case 'other-members':
      return 'Messages says that this chat has more than one other member.';
    case 'other-mail':
      return 'Another mail now stands in its place.';
    case 'timed-out':
      return `${app} did not answer in time.`;
    case 'interrupted':
      return `What ${app} answered could not be read.`;
    case 'too-long':
      return 'It is too long.';
    case 'busy':
      return `Belfry waits for ${app} already. Try again in a minute.`;
    case 'unavailable':
      return `${app} can be asked on a Mac only.`;
    case 'failed':
      return `${app} answered with an error.`;
  }
}
