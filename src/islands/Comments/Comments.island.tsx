/**
 * Writing, answering and reporting comments without leaving the page. The server renders the form and the list of comments; the
 * reply or report that a reader opens under a comment is rendered into that comment.
 */
import { useStore } from '@nanostores/react';
import { useEffect, useId, useRef, useState } from 'react';
import { createPortal } from 'react-dom';
import { changeRefused, myComments, reportComment } from '../../lib/comments/client.ts';
import { noteWaiting } from '../../lib/comments/drafts.ts';
import { commentDone, commentLabels, type MineAnswer, type OwnComment } from '../../lib/comments/schema.ts';
import { $commentAct, type CommentAct } from '../../stores/ui.ts';
import { Notice } from '../shared/notice.tsx';
import { useRequest } from '../shared/request.ts';
import styles from './Comments.module.css';
import { Composer } from './Composer.tsx';
import { OwnComments } from './OwnComments.tsx';

interface Props {
  /** WordPress's id of the article. */
  article: number;
  /** Comment that the page is about; 0: the article. */
  parent: number;
  longest: number;
}

const none: MineAnswer = { name: '', mayWrite: true, comments: [], reported: [] };

export default function Comments({ article, parent, longest }: Props) {
  const { mine, setMine, change } = useMine(article);
  const { form, close } = useOpenForm();
  const [done, setDone] = useState('');
  const result = useRef<HTMLParagraphElement>(null);

  function posted(comment: OwnComment) {
    change((comments) => merged([comment], comments));
    setMine((now) => now && { ...now, name: comment.author });
    setDone(comment.status === 'published' ? commentDone.published : commentDone.waiting);
  }

  const shared = { article, longest, name: mine?.name ?? null, onPosted: posted };
  const reported = mine?.reported ?? [];
  const { yourComment, yourReply } = commentLabels;
  return (
    <div className={styles.root}>
      <Composer {...shared} parent={parent} label={parent === 0 ? yourComment : yourReply} />
      <p className={styles.status} role="status" ref={result} tabIndex={-1}>
        {done}
      </p>
      <OwnComments
        comments={mine?.comments ?? []}
        onChanged={(comment) => {
          change((comments) => comments.map((each) => (each.id === comment.id ? comment : each)));
          setDone(commentDone.changed);
        }}
        onRemoved={(id) => {
          change((comments) => comments.filter((each) => each.id !== id));
          setDone(commentDone.removed);
          // The pressed button is gone, so the message gets the focus.
          result.current?.focus();
        }}
      />
      {form?.act === 'reply' &&
        createPortal(
          <Composer
            key={form.id}
            {...shared}
            parent={form.id}
            label={yourReply}
            focused
            onPosted={(comment) => {
              posted(comment);
              close();
            }}
            onCancel={close}
          />,
          form.place,
        )}
      {form?.act === 'report' &&
        createPortal(
          <Report
            key={form.id}
            comment={form.id}
            reported={reported.includes(form.id)}
            onReported={(id) => setMine((now) => ({ ...(now ?? none), reported: [...reported, id] }))}
            onClose={close}
          />,
          form.place,
        )}
    </div>
  );
}

/** The user's own comments under an article; `null` until the server has answered. */
function useMine(article: number) {
  const [mine, setMine] = useState<MineAnswer | null>(null);

  useEffect(() => {
    let gone = false;
    void myComments(article).then((answer) => {
      if (gone || !answer.ok || !answer.value) return;
      const { value } = answer;
      // A comment that was posted during the request is newer than its answer.
      setMine((now) => {
        const comments = merged(now?.comments ?? [], value.comments);
        noteWaiting(article, hasWaiting(comments));
        return { ...value, comments };
      });
    });
    return () => {
      gone = true;
    };
  }, [article]);

  const change = (make: (comments: readonly OwnComment[]) => readonly OwnComment[]) =>
    setMine((now) => {
      const comments = make((now ?? none).comments);
      noteWaiting(article, hasWaiting(comments));
      return { ...(now ?? none), comments };
    });

  return { mine, setMine, change };
}

const hasWaiting = (comments: readonly OwnComment[]): boolean => comments.some(({ status }) => status === 'waiting');

/** Merges two lists; if both have a comment, the first list's version is used. */
function merged(first: readonly OwnComment[], second: readonly OwnComment[]): readonly OwnComment[] {
  const ids = new Set(first.map(({ id }) => id));
  return [...first, ...second.filter(({ id }) => !ids.has(id))];
}

/** The reply or report that is open under a comment of the page, and the element that it is rendered into. */
function useOpenForm() {
  const [form, setForm] = useState<(CommentAct & { readonly place: HTMLElement }) | null>(null);
  const opener = useRef<HTMLElement | null>(null);
  const requested = useStore($commentAct);

  useEffect(() => {
    if (requested === null) return;
    $commentAct.set(null);
    const item = document.querySelector<HTMLElement>(`#comment-${requested.id} > article`);
    if (!item) return;
    opener.current = item.querySelector<HTMLElement>(`[data-act="${requested.act}"]`);
    const place = document.createElement('div');
    place.className = styles.place ?? '';
    item.append(place);
    setForm((before) => {
      before?.place.remove();
      return { ...requested, place };
    });
  }, [requested]);

  // Another order or page of comments may have replaced the comment.
  useEffect(() => {
    const check = () => setForm((now) => (now && !now.place.isConnected ? null : now));
    addEventListener('broadsheet:stories', check);
    return () => removeEventListener('broadsheet:stories', check);
  }, []);

  function close() {
    setForm((now) => {
      now?.place.remove();
      return null;
    });
    opener.current?.focus();
  }

  return { form, close };
}

interface ReportProps {
  comment: number;
  /** Whether the user has reported it before. */
  reported: boolean;
  onReported(comment: number): void;
  onClose(): void;
}

/** Reports a comment to the editors, after a confirmation. */
function Report({ comment, reported, onReported, onClose }: ReportProps) {
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const { busy, problem, start, end } = useRequest();
  useEffect(() => box.current?.focus(), []);

  async function send() {
    const answer = await start(() => reportComment(comment));
    if (!answer) return;
    if (!answer.ok) return end(changeRefused(answer));
    end();
    onReported(comment);
    box.current?.focus();
  }

  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset belongs to a form, and this is a question.
    <div ref={box} className={styles.report} role="group" tabIndex={-1} aria-labelledby={`${id}-ask`}>
      <p id={`${id}-ask`} role="status">
        {reported ? commentLabels.reported : commentLabels.confirmReport}
      </p>
      <Notice id={`${id}-problem`} text={problem} />
      <p className={styles.foot}>
        {!reported && (
          <button className="button" type="button" aria-disabled={busy} onClick={() => void send()}>
            {busy ? commentLabels.sending : commentLabels.report}
          </button>
        )}
        <button className="button button-plain" type="button" onClick={onClose}>
          {reported ? commentLabels.close : commentLabels.cancel}
        </button>
      </p>
    </div>
  );
}
