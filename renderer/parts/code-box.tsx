import { useState } from 'react';
import { copyText } from '../stores/own-machine.ts';
import { Button } from './button.tsx';
import './code-box.css';

interface CodeBoxProps {
  readonly text: string;
  /** What it is, for the name of its box and of its button: `the settings for Cursor`. */
  readonly name: string;
  readonly copy?: boolean;
  readonly tabIndex?: number;
}

/** Text to read exactly as it is and to copy. Long lines scroll inside the box. */
export function CodeBox({ text, name, copy = true, tabIndex = 0 }: CodeBoxProps) {
  return (
    <div className="code-box">
      {/* A box that scrolls must be reachable by keyboard. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <pre className="code-text" role="group" tabIndex={tabIndex} aria-label={name} dir="ltr">{text}</pre>
      {copy && <CopyButton text={text} name={name} tabIndex={tabIndex} />}
    </div>
  );
}

export function CopyButton({ text, name, label = 'Copy', tabIndex }: { readonly text: string; readonly name: string; readonly label?: string; readonly tabIndex?: number }) {
  const [copied, setCopied] = useState(false);
  return (
    <Button
      dense icon={copied ? 'check' : 'copy'} tabIndex={tabIndex} aria-label={`${label}: ${name}`} onBlur={() => setCopied(false)}
      onClick={() => void copyText(text).then(setCopied)}
    >
      {copied ? 'Copied' : label}
    </Button>
  );
}
