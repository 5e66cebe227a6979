import { skillText } from '../../app/contract/skill.ts';
import { Button } from '../parts/button.tsx';
import { CodeBox } from '../parts/code-box.tsx';
import { Sheet } from '../parts/sheet.tsx';
import { useShell } from '../stores/shell-store.ts';

/** What an agent that can run commands is told, so that it sleeps until something arrives. */
export function SkillSheet({ onClose }: { readonly onClose: () => void }) {
  const command = useShell(({ state }) => state?.shimWord ?? null);
  return (
    <Sheet title="For agents with a shell" wide onClose={onClose} actions={<Button look="main" onClick={onClose}>Done</Button>}>
      <p>An agent that can run commands may sleep until something arrives. Give it this text, for instance as a skill. It waits for you like any other client, and hears only of senders you allow.</p>
      <CodeBox text={command === null ? skillText() : skillText(command)} name="the text for agents" />
    </Sheet>
  );
}
