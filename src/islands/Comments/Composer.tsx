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
import { draftName, newDraftKey, readDraft, storeDraft } from '../../lib/comments/drafts.ts';
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
import { useRequest } from '../shared/request.ts';
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

/** From this number of remaining characters on, the form shows how many are left. */
const nearlyFull = 200;

export function Composer(props: Props) {
  const { article, parent, label, name } = props;
  const id = useId();
  const { area, nameField, draft, left, asksName, changeName, busy, problem, confirms, submit } = useComposer(props);
  const scripted = useScripted();
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
      {asksName && <NameField id={`${id}-name`} input={nameField} name={name} />}
      <Notice id={`${id}-problem`} text={problem} />
      {confirms && <ConfirmLink />}
      <Foot id={id} busy={busy} reply={parent !== 0} left={left} onCancel={props.onCancel}>
        {!asksName && name && (
          <>
            {commentLabels.postingAs} <strong>{name}</strong>.{' '}
            <button type="button" className={styles.plain} onClick={changeName}>
              {commentLabels.changeName}
            </button>{' '}
          </>
        )}
      </Foot>
    </form>
  );
}

/** State of the form, and how it is sent. */
function useComposer({ article, parent, longest, name, focused = false, onPosted }: Props) {
  const area = useRef<HTMLTextAreaElement>(null);
  const nameField = useRef<HTMLInputElement>(null);
  const draft = useDraft(article, parent, area);
  const [changesName, setChangesName] = useState(false);
  const [confirms, setConfirms] = useState(false);
  const { busy, problem, setProblem, start, end } = useRequest();
  useEffect(() => {
    if (focused) area.current?.focus();
  }, [focused]);
  useEffect(() => {
    if (changesName) nameField.current?.focus();
  }, [changesName]);
  const asksName = changesName || name === '';

  async function submit(event: SyntheticEvent<HTMLFormElement>) {
    event.preventDefault();
    setConfirms(false);
    const newName = asksName ? (nameField.current?.value ?? '').trim() : undefined;
    const wrong = wrongField(draft.text, longest, newName);
    if (wrong) {
      setProblem(wrong.message);
      return (wrong.field === 'name' ? nameField : area).current?.focus();
    }
    const answer = await start(() =>
      postComment({
        articleId: article,
        parentId: parent,
        content: draft.text,
        draft: draft.key(),
        ...(newName !== undefined && { name: newName }),
      }),
    );
    if (!answer) return;
    setConfirms(!answer.ok && hasCode(answer, unconfirmed));
    if (answer.ok) {
      const { comment } = answer.value ?? {};
      if (!comment) return end(commentFailed.failed);
      end();
      draft.write('');
      setChangesName(false);
      return onPosted(comment);
    }
    // The text stays in the form and in the browser's storage.
    draft.write(draft.text);
    if (refusedField(answer) === 'name') setChangesName(true);
    end(refusedMessage(answer));
  }

  const left = longest - lengthOf(cleanComment(draft.text));
  const changeName = () => setChangesName(true);
  return { area, nameField, draft, left, asksName, changeName, busy, problem, confirms, submit };
}

/** The first field to correct; `null`: none. @param name `undefined` unless the form asks for it */
export function wrongField(
  text: string,
  longest: number,
  name: string | undefined,
): { readonly field: 'text' | 'name'; readonly message: string } | null {
  const content = cleanComment(text);
  const over = lengthOf(content) - longest;
  if (content === '') return { field: 'text', message: commentInvalid.empty };
  if (over > 0) return { field: 'text', message: tooLong(over) };
  const message = name === undefined ? null : nameProblem(name);
  return message === null ? null : { field: 'name', message };
}

interface NameFieldProps {
  id: string;
  input: RefObject<HTMLInputElement | null>;
  name: string | null;
}

const NameField = ({ id, input, name }: NameFieldProps) => (
  <div className={styles.name}>
    <label htmlFor={id}>{commentLabels.displayName}</label>
    <input
      ref={input}
      className="field"
      id={id}
      name={commentFields.name}
      autoComplete="name"
      maxLength={longestName}
      defaultValue={name ?? ''}
    />
  </div>
);

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

  // Before the click that started the hydration is repeated. Text that was typed before then wins over a stored draft.
  useLayoutEffect(() => {
    const typed = area.current?.value ?? '';
    const stored = readDraft(article, parent);
    key.current = stored?.key ?? newDraftKey();
    setText(typed !== '' ? typed : (stored?.text ?? ''));
  }, [article, parent, area]);

  // Another tab has posted this draft or changed it: what is sent with its key would replace the other tab's comment.
  useEffect(() => {
    const changed = (event: StorageEvent) => {
      if (event.key === draftName(article, parent)) key.current = newDraftKey();
    };
    addEventListener('storage', changed);
    return () => removeEventListener('storage', changed);
  }, [article, parent]);

  return {
    text,
    key: () => key.current,
    write(value: string) {
      // What is written next is another comment.
      if (value.trim() === '') key.current = newDraftKey();
      setText(value);
      storeDraft(article, parent, { text: value, key: key.current });
    },
  };
}
