/**
 * Writing, answering and reporting comments without leaving the page. The server draws the form; the list of comments stays the
 * page's own, and what is opened beside one of them is drawn into it.
 */

import { useStore } from '@nanostores/react';
import { useEffect, useRef, useState } from 'react';
import { createPortal } from 'react-dom';
import { myComments } from '../../lib/comments/client.ts';
import { noteWaiting } from '../../lib/comments/drafts.ts';
import { commentDone, type MineAnswer, type OwnComment } from '../../lib/comments/schema.ts';
import { $commentAct, type CommentAct } from '../../stores/comments.ts';
import styles from './Comments.module.css';
import { Composer } from './Composer.tsx';
import { OwnComments } from './OwnComments.tsx';
import { Report } from './Report.tsx';

interface Props {
  /** WordPress's number of the article. */
  article: number;
  /** Comment that the page is about; 0: the article. */
  parent: number;
  longest: number;
}

/** What is open beside a comment of the page, and the element that it stands in. */
interface Beside extends CommentAct {
  readonly place: HTMLElement;
}

const nothing: MineAnswer = { name: '', mayWrite: true, comments: [], reported: [] };

export default function Comments({ article, parent, longest }: Props) {
  const [mine, setMine] = useState<MineAnswer | null>(null);
  const [said, setSaid] = useState('');
  const [beside, setBeside] = useState<Beside | null>(null);
  const opener = useRef<HTMLElement | null>(null);
  const asked = useStore($commentAct);

  useEffect(() => {
    let gone = false;
    void myComments(article).then((answer) => {
      if (gone || !answer.ok || !answer.value) return;
      const found = answer.value;
      // What was posted while this was under way is newer.
      setMine((now) => ({ ...found, comments: merged(now?.comments ?? [], found.comments) }));
      noteWaiting(
        article,
        found.comments.some(({ status }) => status === 'waiting'),
      );
    });
    return () => {
      gone = true;
    };
  }, [article]);

  useEffect(() => {
    if (asked === null) return;
    $commentAct.set(null);
    const item = document.querySelector<HTMLElement>(`#comment-${asked.id} > article`);
    if (!item) return;
    opener.current = item.querySelector<HTMLElement>(`[data-act="${asked.act}"]`);
    const place = document.createElement('div');
    place.className = styles.place ?? '';
    item.append(place);
    setBeside((before) => {
      before?.place.remove();
      return { ...asked, place };
    });
  }, [asked]);

  // Another page of comments may have taken the place of this one.
  useEffect(() => {
    const look = () => setBeside((now) => (now && !now.place.isConnected ? null : now));
    addEventListener('broadsheet:stories', look);
    return () => removeEventListener('broadsheet:stories', look);
  }, []);

  function close() {
    setBeside((now) => {
      now?.place.remove();
      return null;
    });
    opener.current?.focus();
  }

  const change = (make: (comments: readonly OwnComment[]) => readonly OwnComment[]) =>
    setMine((now) => {
      const comments = make((now ?? nothing).comments);
      noteWaiting(
        article,
        comments.some(({ status }) => status === 'waiting'),
      );
      return { ...(now ?? nothing), comments };
    });

  function posted(comment: OwnComment) {
    change((comments) => merged([comment], comments));
    setMine((now) => now && { ...now, name: comment.author });
    setSaid(comment.status === 'published' ? commentDone.published : commentDone.waiting);
    if (beside) close();
  }

  const shared = { article, longest, name: mine?.name ?? null, onPosted: posted };
  const reported = mine?.reported ?? [];
  return (
    <div className={styles.root}>
      <Composer {...shared} parent={parent} label={parent === 0 ? 'Your comment' : 'Your reply'} />
      <p className={styles.said} role="status">
        {said}
      </p>
      <OwnComments
        comments={mine?.comments ?? []}
        onChanged={(comment) => {
          change((comments) => comments.map((each) => (each.id === comment.id ? comment : each)));
          setSaid(commentDone.changed);
        }}
        onRemoved={(id) => {
          change((comments) => comments.filter((each) => each.id !== id));
          setSaid(commentDone.removed);
        }}
      />
      {beside?.act === 'reply' &&
        createPortal(
          <Composer key={beside.id} {...shared} parent={beside.id} label="Your reply" focused onCancel={close} />,
          beside.place,
        )}
      {beside?.act === 'report' &&
        createPortal(
          <Report
            key={beside.id}
            comment={beside.id}
            reported={reported.includes(beside.id)}
            onReported={(id) => setMine((now) => ({ ...(now ?? nothing), reported: [...reported, id] }))}
            onClose={close}
          />,
          beside.place,
        )}
    </div>
  );
}

/** Both lists, the first going before the second where they hold the same comment. */
function merged(first: readonly OwnComment[], second: readonly OwnComment[]): readonly OwnComment[] {
  const ids = new Set(first.map(({ id }) => id));
  return [...first, ...second.filter(({ id }) => !ids.has(id))];
}
