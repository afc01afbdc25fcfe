/** The user's own comments that others don't see yet, or that may still be edited. */

import { type SyntheticEvent, useEffect, useId, useRef, useState } from 'react';
import { editComment, refusedMessage, removeComment } from '../../lib/comments/client.ts';
import { commentStates, type OwnComment } from '../../lib/comments/schema.ts';
import { ago } from '../../lib/relative-time.ts';
import { Notice } from '../shared/notice.tsx';
import styles from './Comments.module.css';

interface Props {
  comments: readonly OwnComment[];
  onChanged(comment: OwnComment): void;
  onRemoved(id: string): void;
}

export function OwnComments({ comments, onChanged, onRemoved }: Props) {
  const now = useNow(comments);
  const shown = comments.filter((comment) => comment.status !== 'published' || isChangeable(comment, now));
  if (shown.length === 0) return null;
  return (
    <ol className={styles.own} aria-label="Your comments">
      {shown.map((comment) => (
        <Own key={comment.id} comment={comment} now={now} onChanged={onChanged} onRemoved={onRemoved} />
      ))}
    </ol>
  );
}

const isChangeable = ({ changeableUntil }: OwnComment, now: number): boolean =>
  changeableUntil !== null && Date.parse(changeableUntil) > now;

/** The time, looked at anew when the next comment cannot be changed any more. */
function useNow(comments: readonly OwnComment[]): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const time = Date.now();
    const next = Math.min(
      ...comments.map(({ changeableUntil }) => Date.parse(changeableUntil ?? '')).filter((until) => until > time),
    );
    if (!Number.isFinite(next)) return;
    const timer = setTimeout(() => setNow(Date.now()), next - time + 50);
    return () => clearTimeout(timer);
  });
  return Math.max(now, Date.now());
}

function Own({ comment, now, onChanged, onRemoved }: { comment: OwnComment; now: number } & Omit<Props, 'comments'>) {
  const id = useId();
  const area = useRef<HTMLTextAreaElement>(null);
  const [editing, setEditing] = useState(false);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const changeable = isChangeable(comment, now);
  useEffect(() => {
    if (editing) area.current?.focus();
  }, [editing]);

  async function attempt<T>(call: Promise<T>): Promise<T> {
    setBusy(true);
    setProblem(null);
    const answer = await call;
    setBusy(false);
    return answer;
  }

  async function save(event: SyntheticEvent<HTMLFormElement>) {
    event.preventDefault();
    if (busy || !area.current) return;
    const answer = await attempt(editComment(comment.id, area.current.value));
    if (!answer.ok || !answer.value) return setProblem(answer.ok ? null : refusedMessage(answer));
    setEditing(false);
    onChanged(answer.value.comment);
  }

  async function remove() {
    if (busy) return;
    const answer = await attempt(removeComment(comment.id));
    if (answer.ok || answer.status === 404) onRemoved(comment.id);
    else setProblem(refusedMessage(answer));
  }

  return (
    <li className={styles.mine} data-state={comment.status}>
      <p className={styles.state}>
        <strong>{commentStates[comment.status]}</strong> <time dateTime={comment.date}>{ago(comment.date, now)}</time>
        {comment.parentId > 0 && (
          <>
            {' '}
            <a href={`#comment-${comment.parentId}`}>In reply to this comment</a>
          </>
        )}
      </p>
      {editing ? (
        <form className={styles.form} onSubmit={save} aria-busy={busy}>
          <label className={styles.label} htmlFor={`${id}-text`}>
            Edit your comment
          </label>
          <textarea
            ref={area}
            className={`field ${styles.area}`}
            id={`${id}-text`}
            dir="auto"
            rows={4}
            defaultValue={comment.content}
            aria-describedby={`${id}-problem`}
          />
          <div className={styles.foot}>
            <button className="button" type="submit" aria-disabled={busy}>
              {busy ? 'Sending…' : 'Save'}
            </button>
            <button className="button button-plain" type="button" onClick={() => setEditing(false)}>
              Cancel
            </button>
          </div>
        </form>
      ) : (
        <>
          <p className={styles.words} dir="auto">
            {comment.content}
          </p>
          {changeable && (
            <p className={styles.acts}>
              <button type="button" className={styles.plain} onClick={() => setEditing(true)}>
                Edit
              </button>
              <button type="button" className={styles.plain} aria-disabled={busy} onClick={() => void remove()}>
                Delete
              </button>
            </p>
          )}
        </>
      )}
      <Notice id={`${id}-problem`} text={problem} />
    </li>
  );
}
