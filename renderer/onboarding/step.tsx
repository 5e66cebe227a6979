import type { ReactNode } from 'react';
import { Button } from '../parts/button.tsx';
import './onboarding.css';

export interface StepProps {
  readonly onNext: () => void;
  readonly onBack: () => void;
}

interface StepFrameProps {
  readonly title: string;
  readonly number: string | null;
  readonly children: ReactNode;
  readonly actions: ReactNode;
}

/** One step: its place among the others as text, its title, what to do, and the way on. */
export function StepFrame({ title, number, children, actions }: StepFrameProps) {
  return (
    <main className="step">
      <div className="step-content">
        {number !== null && <p className="hint">{number}</p>}
        <h1 className="step-title" tabIndex={-1}>{title}</h1>
        {children}
      </div>
      <div className="step-actions">{actions}</div>
    </main>
  );
}

/** At the end of the row, away from the way on. */
export function AsideButton({ children, onClick }: { readonly children: ReactNode; readonly onClick: () => void }) {
  return <Button look="plain" className="step-aside" onClick={onClick}>{children}</Button>;
}
