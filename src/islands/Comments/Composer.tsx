/** The form for a comment or a reply. Without JavaScript it posts to a page of its own; hydrated, it posts in place. */
import {
  type ReactNode,
  type RefObject,
  type SyntheticEvent,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { unconfirmed } from '../../lib/accounts/model.ts';
import { postComment, refusedField, refusedMessage } from '../../lib/comments/client.ts';
import { dropDraft, keepDraft, newDraftKey, readDraft } from '../../lib/comments/drafts.ts';
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
  /** Comment that it replies to; 0: none. */
  parent: number;
  longest: number;
  /** Name shown with the user's comments; `null`: not known yet, '': there is none. */
  name: string | null;
  label: string;
  /** Takes the focus when it appears. */
  focused?: boolean;
  onPosted(comment: OwnComment): void;
  /** Without it there is no Cancel button. */
  onCancel?: () => void;
}

/** The form says how many characters are left from this number on. */
const nearlyFull = 200;

export function Composer({ article, parent, longest, name, label, focused = false, onPosted, onCancel }: Props) {
  const id = useId();
  const area = useRef<HTMLTextAreaElement>(null);
  const nameField = useRef<HTMLInputElement>(null);
  const draft = useDraft(article, parent, area);
  const [naming, setNaming] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const [confirms, setConfirms] = useState(false);
  const [busy, setBusy] = useState(false);
  const scripted = useScripted();
  useEffect(() => {
    if (focused) area.current?.focus();
  }, [focused]);
  useEffect(() => {
    if (naming) nameField.current?.focus();
  }, [naming]);

  const left = longest - lengthOf(cleanComment(draft.text));
  const asksName = naming || name === '';

  /** What is wrong with the fields, and which of them to correct; `null`: nothing. */
  function check(chosen: string | undefined): readonly [message: string, field: HTMLElement | null] | null {
    if (cleanComment(draft.text) === '') return [commentInvalid.empty, area.current];
    if (left < 0) return [tooLong(-left), area.current];
    const wrongName = chosen === undefined ? null : nameProblem(chosen);
    return wrongName === null ? null : [wrongName, nameField.current];
  }

  async function submit(event: SyntheticEvent<HTMLFormElement>) {
    event.preventDefault();
    if (busy) return;
    setConfirms(false);
    const chosen = asksName ? (nameField.current?.value ?? '').trim() : undefined;
    const [wrong, field] = check(chosen) ?? [null, null];
    setProblem(wrong);
    if (wrong !== null) return field?.focus();
    setBusy(true);
    const answer = await postComment({
      articleId: article,
      parentId: parent,
      content: draft.text,
      draft: draft.key(),
      ...(chosen !== undefined && { name: chosen }),
    });
    setBusy(false);
    if (answer.ok && answer.value?.comment) {
      draft.drop();
      setNaming(false);
      return onPosted(answer.value.comment);
    }
    if (answer.ok) return setProblem(commentFailed.wrong);
    // The text stays in the form and in the browser's storage.
    draft.write(draft.text);
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
        value={draft.text}
        readOnly={busy}
        onChange={(event) => draft.write(event.target.value)}
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
      <Foot id={id} busy={busy} reply={parent !== 0} left={left} onCancel={onCancel}>
        {!asksName && name && (
          <>
            {commentLabels.postingAs} <strong>{name}</strong>.{' '}
            <button type="button" className={styles.plain} onClick={() => setNaming(true)}>
              {commentLabels.changeName}
            </button>{' '}
          </>
        )}
      </Foot>
    </form>
  );
}

interface FootProps {
  id: string;
  busy: boolean;
  reply: boolean;
  /** Characters that are left; below 0: over the limit. */
  left: number;
  onCancel: (() => void) | undefined;
  /** The name that is shown with the comment. */
  children: ReactNode;
}

function Foot({ id, busy, reply, left, onCancel, children }: FootProps) {
  const action = reply ? commentLabels.postReply : commentLabels.postComment;
  return (
    <div className={styles.foot}>
      <button className="button" type="submit" aria-disabled={busy}>
        {busy ? commentLabels.sending : action}
      </button>
      {onCancel && (
        <button className="button button-plain" type="button" onClick={onCancel}>
          {commentLabels.cancel}
        </button>
      )}
      <p className={styles.hint}>
        <span id={`${id}-left`} role="status">
          {left <= nearlyFull && `${commentLabels.left(left)} `}
        </span>
        {children}
        {commentLabels.reviewed}
      </p>
    </div>
  );
}

/** The text of the form, kept in the browser's storage under the id that makes a repeated request the same comment. */
function useDraft(article: number, parent: number, area: RefObject<HTMLTextAreaElement | null>) {
  const key = useRef('');
  const [text, setText] = useState('');

  // Before the click that started the hydration is repeated. Text that was typed before then wins over a kept draft.
  useLayoutEffect(() => {
    const typed = area.current?.value ?? '';
    const kept = readDraft(article, parent);
    key.current = kept?.key ?? newDraftKey();
    setText(typed !== '' ? typed : (kept?.text ?? ''));
  }, [article, parent, area]);

  return {
    text,
    key: () => key.current,
    write(value: string) {
      setText(value);
      keepDraft(article, parent, { text: value, key: key.current });
    },
    drop() {
      dropDraft(article, parent);
      key.current = newDraftKey();
      setText('');
    },
  };
}
