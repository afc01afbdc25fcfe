/** The user's own comments that others don't see yet, or that may still be edited. */
import { type SyntheticEvent, useEffect, useId, useRef, useState } from 'react';
import { changeRefused, editComment, removeComment } from '../../lib/comments/client.ts';
import { changeFailed, commentLabels, commentStates, type OwnComment } from '../../lib/comments/schema.ts';
import { ago } from '../../lib/relative-time.ts';
import { Notice } from '../shared/notice.tsx';
import { useRequest } from '../shared/request.ts';
import styles from './Comments.module.css';

interface Props {
  comments: readonly OwnComment[];
  onChanged(comment: OwnComment): void;
  onRemoved(id: string): void;
}

export function OwnComments({ comments, onChanged, onRemoved }: Props) {
  const now = useNow(comments);
  /** Comments whose form is open; it stays when the time to edit runs out, because it holds what was typed. */
  const [edited, setEdited] = useState<readonly string[]>([]);
  const shown = comments.filter(
    (comment) => comment.status !== 'published' || isChangeable(comment, now) || edited.includes(comment.id),
  );
  if (shown.length === 0) return null;
  return (
    <ol className={styles.own} aria-label={commentLabels.yourComments}>
      {shown.map((comment) => (
        <Own
          key={comment.id}
          comment={comment}
          now={now}
          editing={edited.includes(comment.id)}
          onEditing={(on) => setEdited((all) => (on ? all.concat(comment.id) : all.filter((id) => id !== comment.id)))}
          onChanged={onChanged}
          onRemoved={onRemoved}
        />
      ))}
    </ol>
  );
}

const isChangeable = ({ changeableUntil }: OwnComment, now: number): boolean =>
  changeableUntil !== null && Date.parse(changeableUntil) > now;

/** The time, updated when the next comment can no longer be edited. */
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

interface OwnProps extends Omit<Props, 'comments'> {
  comment: OwnComment;
  now: number;
  editing: boolean;
  onEditing(on: boolean): void;
}

function Own({ comment, now, editing, onEditing, onChanged, onRemoved }: OwnProps) {
  const id = useId();
  const { busy, problem, start, end } = useRequest();
  const item = useRef<HTMLLIElement>(null);
  const wasEditing = useRef(false);
  // The focused form disappears: keyboard users keep their place.
  useEffect(() => {
    if (wasEditing.current && !editing) (item.current?.querySelector('button') ?? item.current)?.focus();
    wasEditing.current = editing;
  }, [editing]);

  async function save(content: string) {
    const answer = await start(() => editComment(comment.id, content));
    if (!answer) return;
    if (!answer.ok) return end(changeRefused(answer));
    if (!answer.value) return end(changeFailed.failed);
    end();
    onEditing(false);
    onChanged(answer.value.comment);
  }

  async function remove() {
    const answer = await start(() => removeComment(comment.id));
    if (!answer) return;
    if (!answer.ok && answer.status !== 404) return end(changeRefused(answer));
    end();
    onRemoved(comment.id);
  }

  return (
    <li ref={item} className={styles.mine} data-state={comment.status} tabIndex={-1}>
      <p className={styles.state}>
        <strong>{commentStates[comment.status]}</strong> <time dateTime={comment.date}>{ago(comment.date, now)}</time>
        {comment.parentId > 0 && (
          <>
            {' '}
            <a href={`#comment-${comment.parentId}`}>{commentLabels.inReplyTo}</a>
          </>
        )}
      </p>
      {editing ? (
        <EditForm id={id} content={comment.content} busy={busy} onSave={save} onCancel={() => onEditing(false)} />
      ) : (
        <p className={styles.words} dir="auto">
          {comment.content}
        </p>
      )}
      {!editing && isChangeable(comment, now) && (
        <p className={styles.acts}>
          <button type="button" className={styles.plain} onClick={() => onEditing(true)}>
            {commentLabels.edit}
          </button>
          <button type="button" className={styles.plain} aria-disabled={busy} onClick={() => void remove()}>
            {commentLabels.delete}
          </button>
        </p>
      )}
      <Notice id={`${id}-problem`} text={problem} />
    </li>
  );
}

interface EditFormProps {
  id: string;
  content: string;
  busy: boolean;
  onSave(content: string): void;
  onCancel(): void;
}

function EditForm({ id, content, busy, onSave, onCancel }: EditFormProps) {
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => area.current?.focus(), []);

  function submit(event: SyntheticEvent<HTMLFormElement>) {
    event.preventDefault();
    if (area.current) onSave(area.current.value);
  }

  return (
    <form className={styles.form} onSubmit={submit} aria-busy={busy}>
      <label className={styles.label} htmlFor={`${id}-text`}>
        {commentLabels.editComment}
      </label>
      <textarea
        ref={area}
        className={`field ${styles.area}`}
        id={`${id}-text`}
        dir="auto"
        rows={4}
        defaultValue={content}
        readOnly={busy}
        aria-describedby={`${id}-problem`}
      />
      <div className={styles.foot}>
        <button className="button" type="submit" aria-disabled={busy}>
          {busy ? commentLabels.sending : commentLabels.save}
        </button>
        <button className="button button-plain" type="button" onClick={onCancel}>
          {commentLabels.cancel}
        </button>
      </div>
    </form>
  );
}
