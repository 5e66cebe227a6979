import { useId, type ComponentPropsWithRef, type ReactNode } from 'react';
import './field.css';

interface CommonProps {
  readonly label: string;
  /** The label is only read, for fields whose place says what they are. */
  readonly hideLabel?: boolean;
  readonly hint?: ReactNode;
  /** Names the rule that the text breaks. */
  readonly problem?: string | null;
}

function Frame({ id, label, hideLabel = false, hint, problem, children }: CommonProps & { readonly id: string; readonly children: ReactNode }) {
  return (
    <div className="field">
      <label htmlFor={id} className={hideLabel ? 'hidden-text' : 'field-label'}>{label}</label>
      {children}
      {hint && <div id={`${id}-hint`} className="hint">{hint}</div>}
      {problem && <div id={`${id}-problem`} className="field-problem">{problem}</div>}
    </div>
  );
}

const describedBy = (id: string, { hint, problem }: CommonProps) => [hint && `${id}-hint`, problem && `${id}-problem`].filter(Boolean).join(' ') || undefined;

export function Field({ label, hideLabel, hint, problem, ...rest }: CommonProps & ComponentPropsWithRef<'input'>) {
  const id = useId();
  const common = { label, hideLabel: hideLabel ?? false, hint, problem: problem ?? null };
  return (
    <Frame id={id} {...common}>
      <input id={id} className="field-input" autoComplete="off" spellCheck={false} aria-invalid={problem ? true : undefined} aria-describedby={describedBy(id, common)} {...rest} />
    </Frame>
  );
}

export function TextArea({ label, hideLabel, hint, problem, ...rest }: CommonProps & ComponentPropsWithRef<'textarea'>) {
  const id = useId();
  const common = { label, hideLabel: hideLabel ?? false, hint, problem: problem ?? null };
  return (
    <Frame id={id} {...common}>
      <textarea id={id} className="field-input field-area" autoComplete="off" spellCheck={false} aria-invalid={problem ? true : undefined} aria-describedby={describedBy(id, common)} {...rest} />
    </Frame>
  );
}
