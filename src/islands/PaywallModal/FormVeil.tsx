/**
 * Holds a form back behind its outline until all of it can be shown. Its frames load meanwhile, in their places: browsers do not draw
 * in frames that have no size.
 */
import type { ReactNode } from 'react';
import express from './Express.module.css';
import styles from './PaywallModal.module.css';

export function FormVeil({ isSettled, children }: { isSettled: boolean; children: ReactNode }) {
  return (
    <div className={express.veil} data-form="" data-settled={isSettled || undefined}>
      {!isSettled && (
        <div className={styles.skeleton} role="status">
          <span className="visually-hidden">Loading the form…</span>
        </div>
      )}
      <div className={styles.stack}>{children}</div>
    </div>
  );
}
