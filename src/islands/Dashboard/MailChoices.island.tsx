/**
 * The reader's email choices: newsletters, offers, and the mail that is always sent. The form works without JavaScript; with it, it is
 * saved in place.
 */
import { type SyntheticEvent, useEffect, useId, useRef, useState } from 'react';
import { ask } from '../../lib/http/ask.ts';
import {
  type ChoicesAnswer,
  choiceMessages,
  choicesCall,
  choicesPath,
  mailFields,
} from '../../lib/newsletters/schema.ts';
import { Notice } from '../shared/notice.tsx';
import styles from './forms.module.css';

interface Choice {
  readonly slug: string;
  readonly name: string;
  readonly when?: string;
  readonly description: string;
}

interface Props {
  letters: readonly Choice[];
  others: readonly Choice[];
  /** Slugs. */
  chosen: readonly string[];
  saved?: boolean;
  problem?: string | undefined;
}

type State = 'idle' | 'changed' | 'saving' | 'saved';

const messages: Readonly<Record<State, string>> = {
  idle: '',
  changed: choiceMessages.changed,
  saving: choiceMessages.saving,
  saved: choiceMessages.saved,
};

/** Reads the checkboxes from the form, so that one that was ticked before hydration counts. */
const tickedIn = (form: HTMLFormElement | null): readonly string[] =>
  form ? new FormData(form).getAll(mailFields.choice).map(String) : [];

export default function MailChoices({ letters, others, chosen, saved = false, problem: first }: Props) {
  const id = useId();
  const form = useRef<HTMLFormElement>(null);
  const [state, setState] = useState<State>(saved ? 'saved' : 'idle');
  const [problem, setProblem] = useState<string | null>(first ?? null);
  const [offline, setOffline] = useState(false);
  useEffect(() => {
    const look = () => setOffline(!navigator.onLine);
    look();
    addEventListener('online', look);
    addEventListener('offline', look);
    return () => {
      removeEventListener('online', look);
      removeEventListener('offline', look);
    };
  }, []);

  // A box may have been ticked before hydration.
  useEffect(() => {
    const now = tickedIn(form.current);
    if (now.length !== chosen.length || now.some((slug) => !chosen.includes(slug))) setState('changed');
  }, [chosen]);

  async function submit(event: SyntheticEvent) {
    event.preventDefault();
    if (state === 'saving') return;
    setState('saving');
    setProblem(null);
    const answer = await ask<ChoicesAnswer>(choicesCall, { method: 'PUT', body: { choices: tickedIn(form.current) } });
    if (answer.ok) return setState('saved');
    setState('changed');
    if (answer.status === 401) setProblem(choiceMessages.signedOut);
    else if (answer.status === 0) setProblem(choiceMessages.unreachable);
    else setProblem(choiceMessages.failed);
  }

  const list = (choices: readonly Choice[]) =>
    choices.map(({ slug, name, when, description }) => (
      <li key={slug}>
        <input
          type="checkbox"
          id={`${id}-${slug}`}
          name={mailFields.choice}
          value={slug}
          defaultChecked={chosen.includes(slug)}
          aria-describedby={`${id}-${slug}-what`}
        />
        <div>
          <label htmlFor={`${id}-${slug}`}>{name}</label>
          {when && <span className={styles.when}>{when}</span>}
          <p className={styles.what} id={`${id}-${slug}-what`}>
            {description}
          </p>
        </div>
      </li>
    ));

  return (
    <form
      ref={form}
      className={styles.choices}
      method="post"
      action={choicesPath}
      aria-label="Newsletters and email"
      onSubmit={submit}
      onChange={() => setState('changed')}
    >
      <fieldset>
        <legend>Newsletters</legend>
        <ul>{list(letters)}</ul>
      </fieldset>
      <fieldset>
        <legend>Other mail</legend>
        <ul>
          {list(others)}
          <li>
            <input type="checkbox" id={`${id}-due`} defaultChecked disabled aria-describedby={`${id}-due-what`} />
            <div>
              <label htmlFor={`${id}-due`}>Receipts and renewal notices</label>
              <span className={styles.when}>Always</span>
              <p className={styles.what} id={`${id}-due-what`}>
                We email you before a subscription renews, when a payment fails, and what you were charged. The law
                requires it, so you can’t turn it off.
              </p>
            </div>
          </li>
        </ul>
      </fieldset>
      <Notice id={`${id}-problem`} text={problem} />
      <div className={styles.end}>
        <button className="button" type="submit" aria-disabled={state === 'saving' || undefined}>
          Save
        </button>
        <p role="status">{offline ? choiceMessages.offline : messages[state]}</p>
      </div>
    </form>
  );
}
