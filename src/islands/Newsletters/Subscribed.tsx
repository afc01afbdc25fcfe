/** Thanks, and the way to the inbox (spec section 2, "Sticky subscribe footer"). */
import { useEffect, useRef } from 'react';
import { $gaveAddress } from '../../stores/persisted.ts';
import styles from './Newsletters.module.css';
import { nextStep, thanks, webmail } from './texts.ts';

/** @param focused whether the thanks take the focus, which was in a form that is no longer there */
export function Subscribed({ inline = false, focused = true }: { inline?: boolean; focused?: boolean }) {
  const thanked = useRef<HTMLParagraphElement>(null);
  useEffect(() => $gaveAddress.set(true), []);
  useEffect(() => {
    if (focused) thanked.current?.focus();
  }, [focused]);

  return (
    <div className={inline ? styles.doneInline : styles.done} role="status" data-subscribed="">
      <p className={styles.thanks} ref={thanked} tabIndex={-1}>
        {thanks}
      </p>
      <p className={styles.next}>{nextStep}</p>
      <ul className={styles.webmail}>
        {webmail.map(({ name, href }) => (
          <li key={name}>
            <a href={href} target="_blank" rel="noopener noreferrer">
              Open {name}
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}
