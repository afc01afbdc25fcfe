/**
 * The reader's email choices: newsletters, offers, and the mail that is always sent. The form works without JavaScript; with it, it is
 * saved in place.
 */
import { type SyntheticEvent, useEffect, useId, useRef, useState } from 'react';
import { ask } from '../../lib/http/ask.ts';
import { failureMessage } from '../../lib/http/messages.ts';
import {
  type ChoicesAnswer,
  choiceMessages,
  choicesCall,
  choicesPath,
  mailFields,
} from '../../lib/newsletters/schema.ts';
import { Notice } from '../shared/notice.tsx';
import { useOnline } from '../shared/online.ts';
import { useRequest } from '../shared/request.ts';
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
  const { problem, start, end } = useRequest(first);
  const online = useOnline();

  // A box may have been ticked before hydration.
  useEffect(() => {
    const now = tickedIn(form.current);
    if (now.length !== chosen.length || now.some((slug) => !chosen.includes(slug))) setState('changed');
  }, [chosen]);

  async function submit(event: SyntheticEvent) {
    event.preventDefault();
    const body: ChoicesAnswer = { choices: tickedIn(form.current) };
    const call = start(() => ask<ChoicesAnswer>(choicesCall, { method: 'PUT', body }));
    setState('saving');
    const answer = await call;
    if (!answer) return;
    // A box may have been ticked or cleared during the request.
    const isCurrent = String(tickedIn(form.current)) === String(body.choices);
    setState(answer.ok && isCurrent ? 'saved' : 'changed');
    end(answer.ok ? null : failureMessage(answer.status, choiceMessages));
  }

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
        <ul>
          {letters.map((choice) => (
            <ChoiceItem key={choice.slug} id={id} choice={choice} chosen={chosen} />
          ))}
        </ul>
      </fieldset>
      <fieldset>
        <legend>Other mail</legend>
        <ul>
          {others.map((choice) => (
            <ChoiceItem key={choice.slug} id={id} choice={choice} chosen={chosen} />
          ))}
          <ChoiceItem id={id} choice={alwaysSent} />
        </ul>
      </fieldset>
      <Notice id={`${id}-problem`} text={problem} />
      <div className={styles.end}>
        <button className="button" type="submit" aria-disabled={state === 'saving' || undefined}>
          Save
        </button>
        <p role="status">{online ? messages[state] : choiceMessages.disconnected}</p>
      </div>
    </form>
  );
}

const alwaysSent: Choice = {
  slug: 'due',
  name: 'Receipts and renewal notices',
  when: 'Always',
  description:
    'We email you before a subscription renews, when a payment fails, and what you were charged. The law requires it, so you can’t turn it off.',
};

interface ChoiceItemProps {
  /** Prefix of element ids. */
  id: string;
  choice: Choice;
  /** Slugs; omitted for mail that is always sent. */
  chosen?: readonly string[];
}

function ChoiceItem({ id, choice: { slug, name, when, description }, chosen }: ChoiceItemProps) {
  const box = chosen
    ? { name: mailFields.choice, value: slug, defaultChecked: chosen.includes(slug) }
    : { defaultChecked: true, disabled: true };
  return (
    <li>
      <input type="checkbox" id={`${id}-${slug}`} {...box} aria-describedby={`${id}-${slug}-what`} />
      <div>
        <label htmlFor={`${id}-${slug}`}>{name}</label>
        {when && <span className={styles.when}>{when}</span>}
        <p className={styles.what} id={`${id}-${slug}-what`}>
          {description}
        </p>
      </div>
    </li>
  );
}
