import type { EntryCheck } from '../../app/contract/values.ts';
import { Field } from '../parts/field.tsx';
import { useLookup } from '../parts/use-lookup.ts';
import { engine } from '../stores/engine-store.ts';

interface ExceptionsFieldProps {
  readonly text: string;
  readonly onChange: (text: string) => void;
}

/** Who does not count although the domain does: everyone at example.org but noreply@. */
export function ExceptionsField({ text, onChange }: ExceptionsFieldProps) {
  const { value } = useLookup(text.trim() === '' ? null : text, (each) => engine.senders.check({ text: each }), 150);
  return (
    <Field
      label="But not" value={text} onChange={(event) => onChange(event.target.value)} hint="Addresses or subdomains that stay out, separated by commas."
      problem={exceptionProblem(value ?? [])}
    />
  );
}

/** The first entry that is no sender, by name. */
export function exceptionProblem(checks: readonly EntryCheck[]): string | null {
  const refused = checks.find((check) => !check.ok);
  return refused && !refused.ok ? `${refused.text}: ${refused.reason}` : null;
}

export const exceptionsOf = (text: string): readonly string[] => text.split(/[,;\n]/).map((entry) => entry.trim()).filter((entry) => entry !== '');
