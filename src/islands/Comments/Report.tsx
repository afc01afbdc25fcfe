/** Tells the editors of a comment: asked once more, then done. */

import { useEffect, useId, useRef, useState } from 'react';
import { refusedMessage, reportComment } from '../../lib/comments/client.ts';
import { commentLabels } from '../../lib/comments/schema.ts';
import { Notice } from '../shared/notice.tsx';
import styles from './Comments.module.css';

interface Props {
  comment: number;
  /** The reader has reported it before. */
  reported: boolean;
  onReported(comment: number): void;
  onClose(): void;
}

export function Report({ comment, reported, onReported, onClose }: Props) {
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => box.current?.focus(), []);

  async function send() {
    if (busy) return;
    setBusy(true);
    setProblem(null);
    const answer = await reportComment(comment);
    setBusy(false);
    if (answer.ok) {
      onReported(comment);
      box.current?.focus();
    } else setProblem(refusedMessage(answer));
  }

  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would be a form's, and this is a question.
    <div ref={box} className={styles.report} role="group" tabIndex={-1} aria-labelledby={`${id}-ask`}>
      <p id={`${id}-ask`} role="status">
        {reported ? commentLabels.reported : commentLabels.confirmReport}
      </p>
      <Notice id={`${id}-problem`} text={problem} />
      <p className={styles.foot}>
        {!reported && (
          <button className="button" type="button" aria-disabled={busy} onClick={() => void send()}>
            {busy ? 'Sending…' : 'Report'}
          </button>
        )}
        <button className="button button-plain" type="button" onClick={onClose}>
          {reported ? 'Close' : 'Cancel'}
        </button>
      </p>
    </div>
  );
}
