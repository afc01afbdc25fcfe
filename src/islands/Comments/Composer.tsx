/** Where a comment or an answer is written. Sent by the browser it leads to a page of its own; with a script it is posted in place. */

import { type SyntheticEvent, useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
import { unconfirmed } from '../../lib/accounts/forms.ts';
import { postComment, refusedField, refusedMessage } from '../../lib/comments/client.ts';
import { dropDraft, type KeptDraft, keepDraft, newDraftKey, readDraft } from '../../lib/comments/drafts.ts';
import { cleanComment, commentForm, lengthOf, longestName, nameProblem } from '../../lib/comments/model.ts';
import {
  commentFailed,
  commentFields,
  commentInvalid,
  commentLabels,
  type OwnComment,
  tooLong,
} from '../../lib/comments/schema.ts';
import { hasCode } from '../../lib/http/ask.ts';
import { ConfirmLink, Notice, useScripted } from '../shared/notice.tsx';
import styles from './Comments.module.css';

interface Props {
  article: number;
  /** Comment that is answered; 0: none. */
  parent: number;
  longest: number;
  /** Name that stands above the reader's comments; `null`: not known yet, '': there is none. */
  name: string | null;
  label: string;
  /** Takes the focus when it appears. */
  focused?: boolean;
  onPosted(comment: OwnComment): void;
  /** Without it there is nothing to go back to. */
  onCancel?: () => void;
}

/** Characters that are left when it begins to be said. */
const nearlyFull = 200;

export function Composer({ article, parent, longest, name, label, focused = false, onPosted, onCancel }: Props) {
  const id = useId();
  const area = useRef<HTMLTextAreaElement>(null);
  const nameField = useRef<HTMLInputElement>(null);
  const key = useRef('');
  const [text, setText] = useState('');
  const [naming, setNaming] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const [confirms, setConfirms] = useState(false);
  const [busy, setBusy] = useState(false);
  const scripted = useScripted();

  // Before the click that was waiting for the script goes on: what was typed meanwhile goes before what was kept.
  useLayoutEffect(() => {
    const typed = area.current?.value ?? '';
    const kept: KeptDraft | null = readDraft(article, parent);
    key.current = kept?.key ?? newDraftKey();
    setText(typed !== '' ? typed : (kept?.text ?? ''));
  }, [article, parent]);
  useEffect(() => {
    if (focused) area.current?.focus();
  }, [focused]);
  useEffect(() => {
    if (naming) nameField.current?.focus();
  }, [naming]);

  const left = longest - lengthOf(cleanComment(text));
  const asksName = naming || name === '';

  function write(value: string) {
    setText(value);
    keepDraft(article, parent, { text: value, key: key.current });
  }

  function complain(words: string, field: HTMLElement | null) {
    setProblem(words);
    field?.focus();
  }

  async function submit(event: SyntheticEvent<HTMLFormElement>) {
    event.preventDefault();
    if (busy) return;
    setProblem(null);
    setConfirms(false);
    const chosen = asksName ? (nameField.current?.value ?? '').trim() : undefined;
    if (cleanComment(text) === '') return complain(commentInvalid.empty, area.current);
    if (left < 0) return complain(tooLong(-left), area.current);
    const wrongName = chosen === undefined ? null : nameProblem(chosen);
    if (wrongName !== null) return complain(wrongName, nameField.current);
    setBusy(true);
    const answer = await postComment({
      articleId: article,
      parentId: parent,
      content: text,
      draft: key.current,
      ...(chosen !== undefined && { name: chosen }),
    });
    setBusy(false);
    if (answer.ok && answer.value?.comment) {
      dropDraft(article, parent);
      key.current = newDraftKey();
      setText('');
      setNaming(false);
      return onPosted(answer.value.comment);
    }
    if (answer.ok) return setProblem(commentFailed.wrong);
    // Everything that was typed stays, here and in the browser's own memory.
    keepDraft(article, parent, { text, key: key.current });
    if (refusedField(answer) === 'name') setNaming(true);
    setProblem(refusedMessage(answer));
    setConfirms(hasCode(answer, unconfirmed));
  }

  return (
    <form
      className={styles.form}
      action={commentForm}
      method="post"
      noValidate={scripted}
      onSubmit={submit}
      aria-busy={busy}
    >
      <input type="hidden" name={commentFields.article} value={article} />
      <input type="hidden" name={commentFields.parent} value={parent} />
      <label className={styles.label} htmlFor={`${id}-text`}>
        {label}
      </label>
      <textarea
        ref={area}
        className={`field ${styles.area}`}
        id={`${id}-text`}
        name={commentFields.content}
        required
        rows={parent === 0 ? 3 : 2}
        dir="auto"
        value={text}
        readOnly={busy}
        onChange={(event) => write(event.target.value)}
        aria-describedby={`${id}-problem ${id}-left`}
      />
      {asksName && (
        <div className={styles.name}>
          <label htmlFor={`${id}-name`}>{commentLabels.displayName}</label>
          <input
            ref={nameField}
            className="field"
            id={`${id}-name`}
            name={commentFields.name}
            autoComplete="name"
            maxLength={longestName}
            defaultValue={name ?? ''}
          />
        </div>
      )}
      <Notice id={`${id}-problem`} text={problem} />
      {confirms && <ConfirmLink />}
      <div className={styles.foot}>
        <button className="button" type="submit" aria-disabled={busy}>
          {busy ? 'Sending…' : parent === 0 ? 'Post comment' : 'Post reply'}
        </button>
        {onCancel && (
          <button className="button button-plain" type="button" onClick={onCancel}>
            Cancel
          </button>
        )}
        <p className={styles.hint}>
          <span id={`${id}-left`} role="status">
            {left <= nearlyFull && (left < 0 ? `${-left} characters too many. ` : `${left} characters left. `)}
          </span>
          {!asksName && name && (
            <>
              Posting as <strong>{name}</strong>.{' '}
              <button type="button" className={styles.plain} onClick={() => setNaming(true)}>
                Change name
              </button>{' '}
            </>
          )}
          {commentLabels.reviewed}
        </p>
      </div>
    </form>
  );
}
